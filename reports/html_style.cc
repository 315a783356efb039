#include "reports/html_style.h"

namespace assay::reports {

const std::string_view kHtmlStyle = R"(:root {
  color-scheme: light dark;
  --ink: #1c2330; --soft: #5b6576; --line: #d5dae3; --page: #ffffff; --panel: #f5f7fa;
  --fail: #b3261e; --invalid: #8a4b00; --infra: #5b3ea6; --open: #7a5b00; --pass: #1a6b3c;
  --base: #6c7686; --head: #1f5fbf; --lost: #c0392b; --won: #1f8a4c; --wrong: #b9c1cd; --right: #e6eaf0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e8ef; --soft: #9aa4b5; --line: #343c4a; --page: #12161d; --panel: #1b212b;
    --fail: #ff8a80; --invalid: #ffb560; --infra: #b9a3ff; --open: #f0cf65; --pass: #6fd39b;
    --base: #8f9bad; --head: #6ea8ff; --lost: #ff7668; --won: #57c98a; --wrong: #586375; --right: #2a323f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5; font-size: 16px;
  font-family: system-ui, -apple-system, "Segoe UI", "PingFang SC", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif; }
main { max-width: 84rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.45rem; line-height: 1.3; margin: 0 0 .75rem; padding: .75rem 1rem; background: var(--panel);
  border-left: .4rem solid var(--tone, var(--line)); border-radius: .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
ul { margin: .5rem 0; padding-left: 1.25rem; }
li { margin: .2rem 0; overflow-wrap: anywhere; }
a { color: var(--head); }
.fail { --tone: var(--fail); } .invalid { --tone: var(--invalid); } .infrastructure { --tone: var(--infra); }
.inconclusive { --tone: var(--open); } .pass { --tone: var(--pass); }
b.fail, b.invalid, b.infrastructure, b.inconclusive, b.pass { color: var(--tone); }
code { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; font-size: .875em;
  background: var(--panel); padding: .1em .3em; border-radius: .2em; }
pre { margin: .5rem 0; padding: .75rem; background: var(--panel); border-radius: .25rem; overflow-x: auto;
  font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; font-size: .85rem; line-height: 1.4; }
.table { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--panel); font-weight: 600; white-space: nowrap; }
td:not(:last-child) { white-space: nowrap; }
td:last-child { min-width: 5rem; max-width: 36rem; }
details { margin: .75rem 0; }
summary { cursor: pointer; color: var(--soft); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1rem; }
figure { margin: 0; padding: .75rem; background: var(--panel); border-radius: .25rem; min-width: 0; }
figcaption { font-weight: 600; font-size: .9rem; margin-bottom: .25rem; overflow-wrap: anywhere; }
figure p { font-size: .8rem; color: var(--soft); margin: .25rem 0 0; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 12px; font-family: inherit; }
svg .axis { stroke: var(--soft); stroke-width: 1; fill: none; }
svg .grid { stroke: var(--line); stroke-width: 1; fill: none; }
svg .base { stroke: var(--base); stroke-dasharray: 5 3; } svg .head { stroke: var(--head); }
svg .curve { stroke-width: 2; fill: none; stroke-linejoin: round; }
svg .whisker { stroke-width: 2; fill: none; stroke-dasharray: none; }
svg .dot.base { fill: var(--base); stroke: none; } svg .dot.head { fill: var(--head); stroke: none; }
svg .mark { stroke: var(--fail); stroke-width: 1.5; stroke-dasharray: 2 3; fill: none; }
svg .mark.quiet { stroke: var(--soft); }
svg .lost { fill: var(--lost); } svg .won { fill: var(--won); } svg .wrong { fill: var(--wrong); }
svg .right { fill: var(--right); }
.key { display: inline-block; width: .8em; height: .8em; border-radius: .15em; margin: 0 .3em 0 .8em; }
.key.lost { background: var(--lost); } .key.won { background: var(--won); }
.key.wrong { background: var(--wrong); } .key.right { background: var(--right); border: 1px solid var(--line); }
.key.base { background: var(--base); } .key.head { background: var(--head); }
@media (max-width: 40rem) {
  main { padding: .75rem .75rem 3rem; }
  h1 { font-size: 1.15rem; padding: .6rem .75rem; }
  th, td { padding: .25rem .4rem; font-size: .8rem; }
}
@media print { details > * { display: block; } .plots { break-inside: avoid; } }
)";

}  // namespace assay::reports
