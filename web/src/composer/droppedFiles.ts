// Files of a drop, including those in dropped folders.

/** Maximum number of files read from folders; the limits of a message are far lower. */
const maxFiles = 1000;

/** Must be called within the event: the browser clears the data afterwards. */
export function filesOf(transfer: DataTransfer): Promise<File[]> {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return Promise.resolve([...transfer.files]);
  return gather(entries.filter((entry) => entry !== null));
}

async function gather(open: FileSystemEntry[]): Promise<File[]> {
  const files: File[] = [];
  for (let entry = open.shift(); entry && files.length < maxFiles; entry = open.shift()) {
    if (entry.isDirectory) open.push(...(await childrenOf(entry as FileSystemDirectoryEntry)));
    else if (!entry.name.startsWith(".")) files.push(await fileOf(entry as FileSystemFileEntry));
  }
  return files;
}

/** `readEntries` returns a folder in batches; an empty batch ends it. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((read, fail) => reader.readEntries(read, fail));
    if (part.length === 0 || all.length > maxFiles) return all.sort((one, other) => one.name.localeCompare(other.name));
    all.push(...part);
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((read, fail) => entry.file(read, fail));
