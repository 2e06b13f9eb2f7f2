import assert from "node:assert/strict";
import { test } from "node:test";
import { escaped } from "../src/draw/svg_recorder.js";

test("text in SVG has no letters that XML forbids", () => {
  assert.equal(escaped('a\u000bb <&> "c"\ttab'), "a\ufffdb &lt;&amp;&gt; &quot;c&quot;\ttab");
  assert.equal(escaped("\ud83d\ude00 \ud83d \uffff"), "\u{1f600} \ufffd \ufffd");
});
