/** The colours of what is drawn, for light and dark pages. */
import { at } from "../../lib/at";

// Okabe-Ito without black, then a lighter and a darker tint of each: colour-blind readers tell them apart by hue or by
// lightness.
const BASE = ["#56b4e9", "#e69f00", "#009e73", "#0072b2", "#d55e00", "#cc79a7", "#f0e442"];
const TINTS: [string, number][] = [
  ["#ffffff", 0],
  ["#ffffff", 0.35],
  ["#000000", 0.35],
];
export const PALETTE: readonly string[] = TINTS.flatMap(([toward, amount]) =>
  BASE.map((color) => hex(mix(rgb(color), rgb(toward), amount))),
);
const LEVELS = 32;
const FAINTEST = 0.4;
const DIM = 0.18;
const COUNTER_AREA = 0.22;
// Three times as bright as a dark background, the minimum for graphics (WCAG 2).
const MIN_LUMINANCE = 0.12;

type Rgb = [number, number, number];
const WHITE: Rgb = [255, 255, 255];

export interface Theme {
  background: string;
  raised: string;
  text: string;
  muted: string;
  line: string;
  grid: string;
  step: string;
  accent: string;
  counter: string;
}

export const LIGHT: Theme = {
  background: "#ffffff",
  raised: "#f1f3f5",
  text: "#1f2328",
  muted: "#59636e",
  line: "#d0d5db",
  grid: "#e6e9ed",
  step: "#f5f7fa",
  accent: "#000000",
  counter: "#2f8f83",
};

export const DARK: Theme = {
  background: "#16181c",
  raised: "#22262c",
  text: "#e4e7eb",
  muted: "#a0a9b4",
  line: "#3d444d",
  grid: "#2a2f36",
  step: "#1c1f25",
  accent: "#ffffff",
  counter: "#44aa99",
};

/** The colours of a frame. */
export interface Look {
  theme: Theme;
  ink: Ink;
  /** Palette index of each of the header's names. */
  colors: Uint8Array;
}

/** A theme's colours as pixels; those of the palette in shades from the background (idle) to the full colour (busy). */
export class Ink {
  private readonly shades: Uint32Array;
  private readonly dim: Uint32Array;
  private readonly text: string[];
  readonly background: number;
  readonly grid: number;
  readonly step: number;
  readonly counter: number;
  readonly counterArea: number;

  constructor(theme: Theme) {
    const background = rgb(theme.background);
    this.background = pixel(background);
    this.grid = pixel(rgb(theme.grid));
    this.step = pixel(rgb(theme.step));
    this.counter = pixel(rgb(theme.counter));
    this.counterArea = pixel(mix(background, rgb(theme.counter), COUNTER_AREA));
    this.shades = new Uint32Array(PALETTE.length * (LEVELS + 1));
    this.dim = Uint32Array.from(PALETTE, () => pixel(mix(background, rgb(theme.muted), DIM)));
    const palette = PALETTE.map((color) => visibleOn(background, rgb(color)));
    palette.forEach((color, c) => {
      for (let level = 0; level <= LEVELS; level++) {
        const share = FAINTEST + (1 - FAINTEST) * (level / LEVELS);
        this.shades[c * (LEVELS + 1) + level] = pixel(mix(background, color, share));
      }
    });
    this.text = palette.map((color) => (luminance(color) > 0.18 ? "#000000" : "#ffffff"));
  }

  /** The pixel of a palette colour where slices take `share` (0 to 1) of the pixel's time. */
  shade(color: number, share: number): number {
    return this.shades[color * (LEVELS + 1) + Math.min(Math.round(share * LEVELS), LEVELS)] as number;
  }

  dimmed(color: number): number {
    return this.dim[color] as number;
  }

  /** The text colour that is readable on a palette colour. */
  textOn(color: number): string {
    return at(this.text, color);
  }
}

/** A colour, made lighter as far as needed to stand out from a dark background. */
function visibleOn(background: Rgb, color: Rgb): Rgb {
  let shown = color;
  while (luminance(background) < 0.1 && luminance(shown) < MIN_LUMINANCE) shown = mix(shown, WHITE, 0.1);
  return shown;
}

/** The palette index of each of a trace's names. */
export function paletteIndices(colors: readonly number[]): Uint8Array {
  return Uint8Array.from(colors, (color) => color % PALETTE.length);
}

function rgb(color: string): Rgb {
  const channel = (at: number) => Number.parseInt(color.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

function hex(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const channel = (a: number, b: number) => Math.round(a + (b - a) * share);
  return [channel(from[0], to[0]), channel(from[1], to[1]), channel(from[2], to[2])];
}

/** A pixel of an ImageData read as 32-bit words: red, green, blue and opacity, from the lowest byte up. */
function pixel([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Relative luminance (WCAG 2): above 0.18, black has the better contrast. */
function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
