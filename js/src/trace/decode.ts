import { Events } from "./events";
import type { Header } from "./header";

const GAP_BYTES = 6;
const DURATION_BYTES = 6;
const NAME_BYTES = 3;
const EVENT_BYTES = GAP_BYTES + DURATION_BYTES + NAME_BYTES;
const INCOMPLETE = "Its events did not arrive whole. Run the cell again to resend them.";

/** Reads a trace from its header and the parts of its compressed payload (see docs/trace-format.md). */
export async function decodeTrace(header: Header, parts: BlobPart[]): Promise<Events> {
  if (header.version !== 1) {
    throw new Error(`It has format version ${header.version}; this viewer reads version 1.`);
  }
  return unpack(header, header.events === 0 ? new Uint8Array() : await inflate(parts));
}

async function inflate(parts: BlobPart[]): Promise<Uint8Array> {
  const stream = new Blob(parts).stream().pipeThrough(new DecompressionStream("deflate"));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    throw new Error(INCOMPLETE, { cause: error });
  }
}

function unpack(header: Header, bytes: Uint8Array): Events {
  const count = header.events;
  if (bytes.length !== count * EVENT_BYTES) {
    throw new Error(INCOMPLETE);
  }
  const lanes = laneOffsets(header);
  const start = readColumn(bytes, 0, new Float64Array(count), GAP_BYTES);
  const durations = readColumn(bytes, GAP_BYTES * count, new Float64Array(count), DURATION_BYTES);
  const name = readColumn(bytes, (GAP_BYTES + DURATION_BYTES) * count, new Uint32Array(count), NAME_BYTES);
  return new Events(gapsToStarts(start, durations, lanes), cumulate(durations), name, lanes);
}

/** Sums the byte planes that begin at `at`, lowest first, into `out`. */
function readColumn<A extends Float64Array | Uint32Array>(
  bytes: Uint8Array,
  at: number,
  out: A,
  planes: number,
): A {
  const count = out.length;
  for (let plane = 0, scale = 1; plane < planes; plane++, scale *= 256) {
    const from = at + plane * count;
    for (let i = 0; i < count; i++) out[i] += bytes[from + i] * scale;
  }
  return out;
}

function laneOffsets(header: Header): Uint32Array {
  const counts = header.tracks.flatMap((track) => track.depths);
  const offsets = new Uint32Array(counts.length + 1);
  for (let lane = 0; lane < counts.length; lane++) offsets[lane + 1] = offsets[lane] + counts[lane];
  if (offsets[counts.length] !== header.events) {
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
