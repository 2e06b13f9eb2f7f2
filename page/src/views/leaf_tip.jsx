import { formatNumber, scoreWords } from "../core/format.js";
import { useStore } from "../core/store.js";
import { describeLeaf } from "../draw/points.js";

/** What is known of a clustering under the pointer. @param {{leaf: number}} props */
export function LeafTip({ leaf }) {
  const words = describeLeaf(useStore(), leaf);
  return (
    <>
      <b>{words.title}</b>
      <span>
        in group {words.group}, {words.clusters} clusters
      </span>
      {words.values.map((one) => (
        <span>
          {scoreWords(one.name)} {formatNumber(one.value, 3)}
        </span>
      ))}
    </>
  );
}
