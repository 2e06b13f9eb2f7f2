// What the server says, message by message: the keys that consilience.explorer.calls sends.

/**
 * @typedef {Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array} TypedArray
 * @typedef {Uint8Array | Uint16Array} Labels the largest value is missing
 */

/**
 * GET session
 * @typedef {{
 *   revision: number, run: string, tree: string, name: string, source: string, package: string,
 *   n_objects: number, n_clusterings: number, features: string[], known: string[],
 *   saved: string[], tray?: import("./view.js").Kept[], lasts?: boolean, view?: KeptView | null, edits?: EditedItem[],
 *   tray_edition?: string, kept_note?: string,
 *   counts: boolean, planes: {name: string, kind: string, note: string}[], look: Look | null,
 *   makeable: Record<string, string>,
 *   names: string[] | null, linkage: string, linkages?: string[], added?: number[], measure: string,
 *   embedding: {kind: string, note: string}, scores: Score[], cut: SessionCut,
 *   limits: {refs: number, quick_map?: number, quick_scales?: number, more_like: number, rows: number, items: number},
 *   can: {more_like: boolean, null: boolean, features: boolean, agreement: boolean, h5ad?: boolean, stable?: boolean},
 *   more_like_note: string, refused: string[], job: Job | null, stable?: Stable | null, seeks_stable?: boolean,
 * }} Session
 * @typedef {{numbers: number[], real: boolean | null, words: string}} Stable numbers of clusters
 * @typedef {{ref: string, origin: string, edits: string[]}} EditedItem a clustering edited by hand, and how
 * @typedef {{address: string, plane: string, colors: string, linkage: string}} KeptView
 * @typedef {{name: string, low: number | null, high: number | null, better: "low" | "high" | null}} Score
 * @typedef {{groups: number, nodes: number[], candidates: number[], note: string}} SessionCut `nodes` of groups 1, 2, …
 */

/**
 * GET boot, GET labels/REFS and GET map/…: a header and arrays
 * @typedef {{
 *   ref: string, node: number, leaf: number | null, clusters: number, size: number, scores: Record<string, number>,
 *   names?: string[] | null, goes_by?: [string, number][],
 * }} Item a clustering beside its labels; `leaf` is null for a consensus
 * @typedef {{
 *   header: {revision: number, items: Item[]},
 *   arrays: {
 *     xy: Float32Array, merges: Int32Array, heights: Float32Array, order: Int32Array, scores: Float32Array,
 *     clusters: Uint16Array, labels: Labels,
 *   },
 *   shapes: Record<string, number[]>,
 * }} Boot
 * @typedef {{
 *   header: {revision: number, items: Item[]}, arrays: {labels: Labels, support?: Uint8Array},
 *   shapes: Record<string, number[]>,
 * }} LabelsMessage support in steps of 1/254, 255 for none
 * @typedef {{
 *   header: {
 *     revision: number, kind: string, stress: number | null, kept: number | null, n_neighbors: number, note: string,
 *   },
 *   arrays: {xy: Float32Array}, shapes: Record<string, number[]>,
 * }} MapMessage
 */

/**
 * GET detail/REF
 * @typedef {{
 *   revision: number, ref: string, node: number, leaf: number | null, name: string, size: number, clusters: number,
 *   names: string[] | null, sizes: number[], n_missing: number, scores: Record<string, number | null>,
 *   made: Record<string, unknown> | null, weights: {feature: string, weight: number}[] | null,
 *   features: ClusterMarks[] | null, confidence: Histogram | null, support: Histogram | null,
 *   n_floaters: number, floating: number, floaters: Floater[], known: KnownTable[],
 *   trust: {confidence: number[], support: number[], floaters: number[]} | null, members: Members | null,
 * }} Detail
 * @typedef {(number | null)[]} Shares
 * @typedef {{leaf: number[], reliability: Shares, better_without: boolean[], n_better_without: number}} Members
 * @typedef {{cluster: number, top: Effect[], called?: string[] | null}} ClusterMarks `called`: top words of counts
 * @typedef {{
 *   feature: string, words?: string, mean: number, rest: number, d: number, low: number, high: number, spread?: Spread,
 * }} Effect
 * @typedef {{
 *   inside: number[], outside: number[], levels: string[] | null, low?: number | string, high?: number | string,
 * }} Spread shares of the same bins
 * @typedef {{mean: number | null, histogram: number[]}} Histogram
 * @typedef {{index: number, id: Id, cluster: number, confidence: number, support: number}} Floater
 * @typedef {{
 *   name: string, accuracy: number | null, medoid?: number | null, table: number[][] | null, labels: string[],
 * }} KnownTable
 * @typedef {string | number} Id
 */

/**
 * GET objects/REF
 * @typedef {{
 *   revision: number, ref: string, total: number, names: string[] | null, columns: string[], places: number[],
 *   rows: ObjectRow[],
 * }} Objects
 * @typedef {{
 *   index: number, id: Id, cluster: number, name: string | number | null, confidence: number | null,
 *   support: number | null, known: Record<string, string | null>, values: Record<string, number | string | null>,
 *   words: string[] | null,
 * }} ObjectRow
 */

/**
 * GET search, POST treat, POST contrast, GET known/NUMBER, GET plane/NUMBER: picked objects and how they are drawn
 * @typedef {{
 *   header: {total: number, where: string[], hint: string, first: {index: number, id: Id}[]},
 *   arrays: {rows: Uint32Array},
 * }} Search
 * @typedef {{
 *   leaf: number, name: string, clusters: number, share: number | null, parts: number, likeness: number,
 * }} Treater
 * @typedef {{index: number, id: Id, share: number}} Companion
 * @typedef {{
 *   header: {
 *     revision: number, n_rows: number, n_known: number, n_together: number, n_apart: number,
 *     mean: number | null, histogram: number[], together: Treater[], parting: Treater[], alike: Treater[],
 *     company: Companion[], loosest: Companion[],
 *   }, arrays: {share: Float32Array},
 * }} Treatment
 * @typedef {{name: string, n_classes: number, classes: {class: string, inside: number, outside: number}[]}} KnownShares
 * @typedef {{revision: number, sizes: number[], features: Effect[] | null, known: KnownShares[]}} Contrast
 * @typedef {{header: {name: string, classes: string[], saved: boolean}, arrays: {codes: Labels}}} KnownMessage
 * @typedef {{number: number, name: string, classes: string[], saved: boolean, codes: Labels}} Colored
 * @typedef {{header: {name: string, kind: string, note: string}, arrays: {xy: Float32Array}}} PlaneMessage
 * @typedef {{number: number, name: string, note: string, xy: Float32Array}} Plane
 */

/**
 * POST looks, GET averages/REF: what objects look like
 * @typedef {{
 *   kind: "pixels" | "curves" | "files", shape: number[], names: string[], low: number, high: number,
 * }} Look
 * @typedef {{header: Look, arrays: {rows: Uint32Array, values: Float32Array}, shapes: Record<string, number[]>}} Looks
 * @typedef {{
 *   header: Look & {ref: string, examples: number[][], band: number[]},
 *   arrays: {mean?: Float32Array, low?: Float32Array, high?: Float32Array}, shapes: Record<string, number[]>,
 * }} Averages
 */

/**
 * GET why/REF: a branch against all other clusterings
 * @typedef {{feature: string, inside: number, outside: number, d?: number}} Sides
 * @typedef {{
 *   low: number | null, high: number | null, mean_inside: number | null, mean_outside: number | null,
 *   inside: number[], outside: number[],
 * }} Strips
 * @typedef {{
 *   revision: number, ref: string, n_inside: number, n_outside: number, words: string[],
 *   methods: {name: string, inside: number, outside: number}[], clusters: Strips, scores: (Strips & {name: string})[],
 *   known: (Strips & {name: string})[], followed: Sides[] | null,
 *   weights: {space: string, n: number[], rows: Sides[]}[],
 * }} Why
 */

/**
 * GET compare/REF/REF and GET components/REF
 * @typedef {{
 *   revision: number, a: string, b: string, clusters: number[], names: (string[] | null)[], table: number[][],
 *   only_a: number, only_b: number, matched: number[][], n_moved: number,
 *   moved: {index: number, id: Id, from: number, to: number}[], measures: Record<string, number | null>,
 * }} Compare
 * @typedef {{
 *   revision: number, ref: string, node: number, n_members: number, among: number, n_components: number,
 *   share_in_groups: number, largest: number, floaters: Floater[],
 *   components: {size: number, ids: Id[], rows: number[] | null}[],
 * }} Components
 */

/**
 * GET flow/REFS and GET scales/REF: clusterings side by side; of a table the last row and column are missing labels
 * @typedef {{ref: string, clusters: number, names: string[] | null, sizes: number[], n_missing: number}} FlowColumn
 * @typedef {{
 *   header: {
 *     revision: number, columns: FlowColumn[], tables: number[][][], ref?: string, usual?: number, most?: number,
 *     size?: number,
 *   },
 *   arrays: {labels: Labels}, shapes: Record<string, number[]>,
 * }} FlowMessage
 */

/**
 * GET stripes/REF: the most frequent slot of every cell, its share in steps of 1/254, where cells begin, what they hold
 * @typedef {{
 *   header: {
 *     revision: number, ref: string, by: string, clusters: number, sizes: number[], names: (string[] | null)[] | null,
 *   },
 *   arrays: {
 *     slots: Labels, shares: Uint8Array, order: Uint32Array, rows: Uint32Array, columns: Uint32Array,
 *     members: Uint32Array, own: Uint16Array, agreement: Float32Array, kept: Float32Array,
 *   },
 *   shapes: Record<string, number[]>,
 * }} StripesMessage
 */

/**
 * GET agreement
 * @typedef {{
 *   revision: number, iterations: Iteration[], groups: StableGroup[], telling: boolean,
 *   components: Record<string, Record<string, Record<string, number>>>, empty_rows: number, empty_columns: number,
 * }} Agreement
 * @typedef {Record<string, string | number | null> & {side: string, iteration: number}} Iteration
 * @typedef {{side: string, when: string, size: number, members: Id[]}} StableGroup
 */

/**
 * POST jobs, GET jobs/NUMBER, DELETE jobs/NUMBER
 * @typedef {{
 *   id: number, state: "running" | "done" | "canceled" | "failed", done: number, total: number, message: string,
 *   revision: number,
 * }} JobState
 * @typedef {JobState & {kind: "more_like", result: {added: number[], around: number} | null}} MoreLikeJob
 * @typedef {JobState & {kind: "null", result: NullResult | null}} NullJob
 * @typedef {JobState & {kind: "plane", result: {plane: number} | null}} PlaneJob
 * @typedef {JobState & {kind: "map", result: {map: string} | null}} MapJob
 * @typedef {JobState & {kind: "scales", result: {scales: string} | null}} ScalesJob
 * @typedef {JobState & {kind: "report", result: {report: number} | null}} ReportJob
 * @typedef {JobState & {kind: "stable", result: Stable | null}} StableJob
 * @typedef {StableJob | ReportJob | MoreLikeJob | NullJob | PlaneJob | MapJob | ScalesJob} Job
 * @typedef {{
 *   score: string, groups: number, best: number, null_mean: number, null_sd: number, p_value: number,
 *   shuffled: number[], values: number[],
 * }} NullResult
 * @typedef {{
 *     kind: "more_like", ref: string, count: number, jitter: number, more?: number[], less?: number[],
 *     together?: number[], apart?: number[],
 *   }
 *   | {kind: "null", groups: number, score: string, shuffles: number}
 *   | {kind: "report", m: number, nodes: number[], top: number, ref: string, name: string}
 *   | {kind: "plane", method: string} | {kind: "map"} | {kind: "stable", unasked: boolean}
 *   | {kind: "scales", ref: string, most?: number}} JobRequest
 * @typedef {{format: string, items: {ref: string, name: string}[], assessed: boolean,
 *   saved: boolean}} ExportRequest
 */

export {};
