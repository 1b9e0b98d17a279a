import { inflate } from "../../lib/inflate";
import type { Header, Tile } from "./header";
import { Events, type Identity } from "./slices";

const GAP_BYTES = 6;
const DURATION_BYTES = 6;
const NAME_BYTES = 3;
const SLICE_BYTES = GAP_BYTES + DURATION_BYTES + NAME_BYTES;
const EVENT_BYTES = 4;
const EVENTS_BYTES = 4;
const BUSY_BYTES = 1;
const IDENTITY_BYTES = EVENT_BYTES + EVENTS_BYTES + BUSY_BYTES;
const INCOMPLETE = "Its events did not arrive whole. Run the cell again to resend them.";

/** Reads a trace from its header and the parts of its compressed payload (see docs/trace-format.md). */
export async function decodeTrace(header: Header, parts: BlobPart[]): Promise<Events> {
  if (header.version !== 1) {
    throw new Error(`It has format version ${header.version}; this viewer reads version 1.`);
  }
  const counts = header.tracks.flatMap((track) => track.depths);
  const bytes = header.events === 0 ? new Uint8Array() : await inflateEvents(parts);
  return unpack(bytes, header.events, counts, header.merged ?? false);
}

export async function decodeTile(tile: Tile, parts: BlobPart[]): Promise<Events> {
  const bytes = tile.events === 0 ? new Uint8Array() : await inflateEvents(parts);
  return unpack(bytes, tile.events, tile.lanes, true);
}

async function inflateEvents(parts: BlobPart[]): Promise<Uint8Array> {
  try {
    return await inflate(parts);
  } catch (error) {
    throw new Error(INCOMPLETE, { cause: error });
  }
}

function unpack(bytes: Uint8Array, count: number, laneCounts: number[], merged: boolean): Events {
  if (bytes.length !== count * (SLICE_BYTES + (merged ? IDENTITY_BYTES : 0))) {
    throw new Error(INCOMPLETE);
  }
  const lanes = laneOffsets(laneCounts, count);
  const read = <A extends Column>(plane: number, out: A, planes: number) =>
    readColumn(bytes, plane * count, out, planes);
  const start = read(0, new Float64Array(count), GAP_BYTES);
  const durations = read(GAP_BYTES, new Float64Array(count), DURATION_BYTES);
  const name = read(GAP_BYTES + DURATION_BYTES, new Uint32Array(count), NAME_BYTES);
  const identity = merged ? readIdentity(read, count) : null;
  return new Events(gapsToStarts(start, durations, lanes), cumulate(durations), name, lanes, identity);
}

type Column = Float64Array | Uint32Array | Uint8Array;

function readIdentity(
  read: <A extends Column>(plane: number, out: A, planes: number) => A,
  count: number,
): Identity {
  const ids = read(SLICE_BYTES, new Uint32Array(count), EVENT_BYTES);
  for (let i = 1; i < count; i++) ids[i] += ids[i - 1];
  const counts = read(SLICE_BYTES + EVENT_BYTES, new Uint32Array(count), EVENTS_BYTES);
  const fill = read(SLICE_BYTES + EVENT_BYTES + EVENTS_BYTES, new Uint8Array(count), BUSY_BYTES);
  return { ids, counts, fill };
}

/** Sums the byte planes that begin at `at`, lowest first, into `out`. */
function readColumn<A extends Column>(bytes: Uint8Array, at: number, out: A, planes: number): A {
  const count = out.length;
  for (let plane = 0, scale = 1; plane < planes; plane++, scale *= 256) {
    const from = at + plane * count;
    // The upper planes are nearly all zeros.
    for (let i = 0; i < count; i++) if (bytes[from + i] !== 0) out[i] += bytes[from + i] * scale;
  }
  return out;
}

function laneOffsets(counts: number[], events: number): Uint32Array {
  const offsets = new Uint32Array(counts.length + 1);
  for (let lane = 0; lane < counts.length; lane++) offsets[lane + 1] = offsets[lane] + counts[lane];
  if (offsets[counts.length] !== events) {
    throw new Error("Its tracks do not add up to its number of events.");
  }
  return offsets;
}

function gapsToStarts(gaps: Float64Array, durations: Float64Array, lanes: Uint32Array): Float64Array {
  for (let lane = 0; lane + 1 < lanes.length; lane++) {
    let end = 0;
    for (let i = lanes[lane]; i < lanes[lane + 1]; i++) {
      gaps[i] += end;
      end = gaps[i] + durations[i];
    }
  }
  return gaps;
}

function cumulate(durations: Float64Array): Float64Array {
  const sums = new Float64Array(durations.length + 1);
  for (let i = 0; i < durations.length; i++) sums[i + 1] = sums[i] + durations[i];
  return sums;
}
