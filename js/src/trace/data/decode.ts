import { inflate } from "../../lib/inflate";
import type { Header, Tile } from "./header";
import { type Identity, Slices } from "./slices";

const GAP_BYTES = 6;
const DURATION_BYTES = 6;
const NAME_BYTES = 3;
const SLICE_BYTES = GAP_BYTES + DURATION_BYTES + NAME_BYTES;
const EVENT_BYTES = 4;
const EVENTS_BYTES = 4;
const BUSY_BYTES = 1;
const IDENTITY_BYTES = EVENT_BYTES + EVENTS_BYTES + BUSY_BYTES;
const INCOMPLETE = "Some of its events did not arrive. Run the notebook cell again to resend them.";

/** Reads a trace from its header and the parts of its compressed payload (see docs/trace-format.md). */
export async function decodeTrace(header: Header, parts: BlobPart[]): Promise<Slices> {
  if (header.version !== 1) {
    throw new Error(`It has format version ${header.version}; this viewer reads version 1.`);
  }
  const counts = header.tracks.flatMap((track) => track.depths);
  return decode(header.events, counts, parts, header.merged ?? false);
}

export async function decodeTile(tile: Tile, parts: BlobPart[]): Promise<Slices> {
  return decode(tile.events, tile.lanes, parts, true);
}

async function decode(
  count: number,
  laneCounts: number[],
  parts: BlobPart[],
  merged: boolean,
): Promise<Slices> {
  const bytes = count === 0 ? new Uint8Array() : await inflatePayload(parts);
  if (bytes.length !== count * (SLICE_BYTES + (merged ? IDENTITY_BYTES : 0))) throw new Error(INCOMPLETE);
  return unpack(bytes, count, laneOffsets(laneCounts, count), merged);
}

async function inflatePayload(parts: BlobPart[]): Promise<Uint8Array> {
  try {
    return await inflate(parts);
  } catch (error) {
    throw new Error(INCOMPLETE, { cause: error });
  }
}

type Column = Float64Array | Uint32Array | Uint8Array;

function unpack(bytes: Uint8Array, count: number, lanes: Uint32Array, merged: boolean): Slices {
  let at = 0;
  const next = <A extends Column>(column: A, planes: number): A => {
    addPlanes(bytes.subarray(at, at + planes * count), column);
    at += planes * count;
    return column;
  };
  const gaps = next(new Float64Array(count), GAP_BYTES);
  const durations = next(new Float64Array(count), DURATION_BYTES);
  const names = next(new Uint32Array(count), NAME_BYTES);
  const identity: Identity | null = merged
    ? {
        ids: cumulate(next(new Uint32Array(count), EVENT_BYTES)),
        counts: next(new Uint32Array(count), EVENTS_BYTES),
        fill: next(new Uint8Array(count), BUSY_BYTES),
      }
    : null;
  const busy = new Float64Array(count + 1);
  busy.set(durations, 1);
  return new Slices(gapsToStarts(gaps, durations, lanes), cumulate(busy), names, lanes, identity);
}

/** Adds up the byte planes of a column, lowest byte first. */
function addPlanes(bytes: Uint8Array, column: Column): void {
  const count = column.length;
  for (let from = 0, scale = 1; from < bytes.length; from += count, scale *= 256) {
    for (let i = 0; i < count; i++) {
      const byte = bytes[from + i] as number;
      // Nearly all bytes of the upper planes are zero.
      if (byte !== 0) column[i] = (column[i] as number) + byte * scale;
    }
  }
}

function laneOffsets(counts: number[], slices: number): Uint32Array {
  const offsets = cumulate(Uint32Array.of(0, ...counts));
  if (offsets.at(-1) !== slices) {
    throw new Error("Its tracks have another number of events than its header.");
  }
  return offsets;
}

/** Turns the time since the end of the previous slice of the lane into the time since the trace's beginning. */
function gapsToStarts(gaps: Float64Array, durations: Float64Array, lanes: Uint32Array): Float64Array {
  for (let lane = 0; lane + 1 < lanes.length; lane++) {
    const to = lanes[lane + 1] as number;
    let end = 0;
    for (let i = lanes[lane] as number; i < to; i++) {
      const start = end + (gaps[i] as number);
      gaps[i] = start;
      end = start + (durations[i] as number);
    }
  }
  return gaps;
}

function cumulate<A extends Column>(values: A): A {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    sum += values[i] as number;
    values[i] = sum;
  }
  return values;
}
