/** The pixels of the plot. Widths and heights are device pixels. */
export interface PlotImage {
  pixels: Uint32Array;
  width: number;
  height: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

/** Copies the first line of a strip of an image to the `height - 1` lines below it. */
export function repeatLine(pixels: Uint32Array, width: number, top: number, height: number): void {
  const from = top * width;
  for (let y = 1; y < height; y++) pixels.copyWithin(from + y * width, from, from + width);
}
