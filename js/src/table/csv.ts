import { type Column, rawText } from "./columns";

/** Rows as CSV (RFC 4180), with the columns' keys as the first line and full values. */
export function toCsv(columns: readonly Column[], rows: Uint32Array): string {
  const lines = [columns.map(({ key }) => quoted(key)).join(",")];
  for (const row of rows) lines.push(columns.map((column) => quoted(rawText(column, row))).join(","));
  return `${lines.join("\r\n")}\r\n`;
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
