import { vi } from "vitest";
import { decodeTrace } from "./data/decode";
import { encode, type Written } from "./data/encode.testing";
import type { Header } from "./data/header";
import { State } from "./state";

/** The state of a viewer of a trace with a plot of 800 by 200 pixels, and a listener that records its calls. */
export async function stateOf(tracks: Written[][][], header: Partial<Header> = {}) {
  const encoded = await encode(tracks, header);
  const slices = await decodeTrace({ ...encoded.header, merged: false }, [encoded.payload]);
  const listener = {
    changed: vi.fn(),
    moved: vi.fn(),
    arranged: vi.fn(),
    selected: vi.fn(),
    rangeSettled: vi.fn(),
  };
  const state = new State(encoded.header, slices, listener);
  state.resize(LABELS_PX + 800 + 8, 200 + 20);
  return { state, listener };
}

/** The width of the names beside the plot. */
export const LABELS_PX = 202;
