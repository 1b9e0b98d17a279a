import { describe, expect, it } from "vitest";
import { at } from "../../lib/at";
import { DARK, Ink, LIGHT, PALETTE, paletteIndices } from "./colors";

/** WCAG 2 contrast of two colours written as #rrggbb. */
function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(color: string): number {
  const linear = (at: number) => {
    const share = channel(color, at) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5);
}

function channel(color: string, at: number): number {
  return Number.parseInt(color.slice(at, at + 2), 16);
}

describe("the palette", () => {
  it("has no colour twice", () => {
    expect(new Set(PALETTE).size).toBe(PALETTE.length);
  });

  it("has readable labels on every colour", () => {
    const ink = new Ink(LIGHT);
    PALETTE.forEach((color, index) => {
      expect(contrast(color, ink.textOn(index))).toBeGreaterThan(4.5);
    });
  });

  it("wraps indices that are too large", () => {
    expect([...paletteIndices([0, PALETTE.length + 3])]).toEqual([0, 3]);
  });
});

describe.each([LIGHT, DARK])("a theme", (theme) => {
  it("has readable text", () => {
    expect(contrast(theme.text, theme.background)).toBeGreaterThan(7);
    expect(contrast(theme.muted, theme.background)).toBeGreaterThan(4.5);
  });

  it("goes from faint to full colour with the busy share", () => {
    const ink = new Ink(theme);
    const shades = [0, 0.25, 0.5, 0.75, 1].map((share) => ink.shade(0, share));
    expect(new Set([...shades, ink.background]).size).toBe(6);
    // Pixels are opaque, and in the byte order red, green, blue.
    const first = at(PALETTE, 0);
    const [red, green, blue] = [channel(first, 1), channel(first, 3), channel(first, 5)];
    expect(shades[4]).toBe(0xff000000 + blue * 65536 + green * 256 + red);
  });
});
