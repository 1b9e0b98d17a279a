import { type Column, rawText } from "./columns";

/**
 * Rows as CSV (RFC 4180), with the columns' keys as the first line and full values. Texts that a spreadsheet would take
 * for a formula begin with an apostrophe.
 */
export function toCsv(columns: readonly Column[], rows: Uint32Array): string {
  const lines = [columns.map(({ key }) => quoted(key)).join(",")];
  for (const row of rows) lines.push(columns.map((column) => quoted(plain(column, row))).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function plain(column: Column, row: number): string {
  const text = rawText(column, row);
  return column.texts && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Offers `text` to the user as a file. */
export function download(text: string, filename: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
