// The Genkit JavaScript client, unchanged, talks to a served desk: it asks,
// waits at a card, approves, declines, is told who was first, and streams.
import assert from "node:assert/strict";
import { runFlow, streamFlow } from "genkit/beta/client";

const url = process.argv[2] + "/dispatchAgent";
const ask = (input, headers) => runFlow({ url, input, headers });

const status = await ask({ message: "what's the status of WO-1043" });
assert.deepEqual(status.orderIds, ["WO-1043"]);
assert.match(status.answer, /Sam Orrin/);
assert.equal(status.approvalId, undefined);

const first = await ask({ message: "order a 3 kW heating element for WO-1044" });
assert.match(first.approvalId, /^A-\d+$/);
assert.match(first.answer, /84\.90 EUR/);
const done = await ask({ approvalId: first.approvalId, approved: true });
assert.match(done.answer, /PO-\d+/);
assert.equal(done.conversationId, first.conversationId);
await assert.rejects(ask({ approvalId: first.approvalId, approved: true }), /409.*was already approved by/s);

const second = await ask({ message: "order a HE-3000-230S for WO-1044" });
const denied = await ask({ approvalId: second.approvalId, approved: false, reason: "wrong type" });
assert.match(denied.answer, /Nothing was ordered/);
assert.match(denied.answer, /wrong type/);

const keyed = { "Idempotency-Key": "genkit-1" };
const once = await ask({ message: "order a HE-3000-230S for WO-1045" }, keyed);
const again = await ask({ message: "order a HE-3000-230S for WO-1045" }, keyed);
assert.equal(again.approvalId, once.approvalId);
const edited = await ask({ approvalId: once.approvalId, edits: { work_order_id: "WO-1045", sku: "HE-3000-230S", quantity: 2 } });
assert.notEqual(edited.approvalId, once.approvalId);

const streamed = streamFlow({ url, input: { approvalId: edited.approvalId, approved: true } });
const kinds = new Set();
let words = "";
for await (const chunk of streamed.stream) {
  Object.keys(chunk).forEach((k) => kinds.add(k));
  words += chunk.text ?? "";
}
const result = await streamed.output;
assert.ok(kinds.has("call"), "a stream tells of its calls");
assert.match(result.answer, /PO-\d+/);
assert.ok(result.answer.startsWith(words), "the words of a stream are those of its answer");

const failing = streamFlow({ url, input: { approvalId: edited.approvalId, approved: true } });
const drained = (async () => { for await (const chunk of failing.stream) void chunk; })();
await Promise.all([
  assert.rejects(failing.output, /ABORTED: .*was already approved by/s),
  assert.rejects(drained, /ABORTED: .*was already approved by/s),
]);
await assert.rejects(ask({ message: "" }), /400.*the message is empty/s);
console.log("runFlow and streamFlow: asked, waited, approved, declined, edited, streamed, refused");
