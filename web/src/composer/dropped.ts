// The files of a drop, those within dropped folders too.

/** So many of a folder are looked at; the limits of a message are far below. */
const most = 1000;

/** Must be called within the event: afterwards the browser forgets what was dropped. */
export function filesOf(transfer: DataTransfer): Promise<File[]> {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return Promise.resolve([...transfer.files]);
  return gather(entries.filter((entry) => entry !== null));
}

async function gather(open: FileSystemEntry[]): Promise<File[]> {
  const found: File[] = [];
  for (let entry = open.shift(); entry && found.length < most; entry = open.shift()) {
    if (entry.isDirectory) open.push(...(await childrenOf(entry as FileSystemDirectoryEntry)));
    else if (!entry.name.startsWith(".")) found.push(await fileOf(entry as FileSystemFileEntry));
  }
  return found;
}

/** A folder is read in parts, until a part is empty. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((read, fail) => reader.readEntries(read, fail));
    if (part.length === 0 || all.length > most) return all.sort((one, other) => one.name.localeCompare(other.name));
    all.push(...part);
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((read, fail) => entry.file(read, fail));
