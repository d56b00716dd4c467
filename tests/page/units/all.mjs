// Runs the unit tests of files in one process, whose bundler they share: `node all.mjs FILE...`.
for (const file of process.argv.slice(2)) await import(file);
