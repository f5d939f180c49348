import { createHash } from 'node:crypto'
import { BASE_STYLE } from '../../web/baseStyle.ts'

/** The style sheet of the pages, based on that of all pages of Pharos; the content security policy forbids inline styles. */
export const STYLE = `${BASE_STYLE}
:root {
  --code: #f0f1f4; --edge: #7d8794;
  --good: #1b6a3d; --good-ground: #e5f3ea; --busy: #1d5ca3; --busy-ground: #e7f0fb; --wait: #574a8f; --wait-ground: #eeebf8;
  --warn: #855000; --warn-ground: #fcf0da; --bad: #a1201a; --bad-ground: #fde9e7;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme]) {
    --code: #252c35; --edge: #75828f;
    --good: #7fd6a0; --good-ground: #16301f; --busy: #8fbdf5; --busy-ground: #16283f; --wait: #c0b4f3; --wait-ground: #272143;
    --warn: #f2c56f; --warn-ground: #362911; --bad: #ff9f96; --bad-ground: #3e1b19;
  }
}
body { margin: 0 auto; max-width: 68rem; padding: 0 1.25rem 3rem; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.55rem; line-height: 1.25; font-weight: 650; letter-spacing: -.012em; margin: .2rem 0 .35rem; }
h2 { font-size: 1.2rem; line-height: 1.3; font-weight: 650; letter-spacing: -.008em; margin: 0; }
h3 { font-size: 1rem; line-height: 1.4; font-weight: 650; margin: 1.6rem 0 .5rem; }
p { margin: .25rem 0; max-width: 46rem; }
.quiet, .foot { color: var(--quiet); font-size: .9rem; }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "Liberation Mono", Menlo, monospace; font-size: .875em; }
code { background: var(--code); padding: .1em .35em; border-radius: .25rem; }
pre { background: var(--code); margin: .4rem 0; padding: .65rem .8rem; border-radius: .4rem; white-space: pre-wrap; }
pre code { background: none; padding: 0; font-size: inherit; }
.top { padding: 1.4rem 0 1.1rem; }
.brand { margin: 0 0 .9rem; font-weight: 650; }
.bar-top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: .2rem 1rem; margin: 0 0 .9rem; }
.bar-top .brand { margin: 0; }
.account { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem .8rem; margin: 0; font-size: .9rem; }
.buttons { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .6rem; margin: .9rem 0 0; max-width: none; }
button, .button { font: inherit; font-weight: 600; font-size: .9rem; line-height: 1.3; display: inline-block; padding: .42rem .8rem; border: 1px solid var(--edge); border-radius: .4rem; background: var(--sheet); color: var(--ink); text-decoration: none; cursor: pointer; overflow-wrap: anywhere; text-align: left; }
button:hover, .button:hover { border-color: var(--ink); }
button.main { background: var(--link); border-color: var(--link); color: var(--sheet); }
.fields { display: grid; gap: .9rem; }
.fields p { display: grid; gap: .25rem; max-width: 26rem; margin: 0; }
.fields p.buttons { display: flex; }
.fields p:last-child { justify-items: start; }
.fields label { font-weight: 600; font-size: .9rem; }
input, select { font: inherit; width: 100%; padding: .42rem .6rem; border: 1px solid var(--edge); border-radius: .4rem; background: var(--ground); color: var(--ink); }
.outcome { margin: 0 0 1rem; max-width: none; }
.brand a { display: inline-flex; align-items: center; gap: .5rem; color: inherit; text-decoration: none; }
.sign { width: 1.6rem; height: 1.6rem; }
.foot { margin-top: 2.5rem; padding-top: .9rem; border-top: 1px solid var(--line); }
.icon { width: .95em; height: .95em; align-self: center; }
.ring { stroke-width: 1.9; stroke-dasharray: none; stroke-linecap: round; }
.t-good { color: var(--good); } .t-busy { color: var(--busy); } .t-wait { color: var(--wait); } .t-warn { color: var(--warn); } .t-bad { color: var(--bad); }
.label { align-items: baseline; gap: .4em; font-size: .875rem; line-height: 1.35; white-space: normal; }
h1 .icon { width: .85em; height: .85em; margin-right: .45em; }
.sheet { background: var(--sheet); border: 1px solid var(--line); border-radius: .7rem; padding: 1.25rem 1.4rem 1.35rem; margin: 0 0 1.25rem; box-shadow: var(--shade); }
.sheet > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem .9rem; }
.conditions { list-style: none; margin: .8rem 0 0; padding: 0; display: grid; gap: .5rem; }
.condition { border-radius: .5rem; padding: .6rem .85rem; }
.condition p { margin: .15rem 0 0; }
.c-good { background: var(--good-ground); } .c-busy { background: var(--busy-ground); } .c-wait { background: var(--wait-ground); } .c-warn { background: var(--warn-ground); } .c-bad { background: var(--bad-ground); }
.todo::before { content: "→ "; color: var(--quiet); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: .8rem 1.6rem; margin: 1.1rem 0 0; }
.facts dt { color: var(--quiet); font-size: .8125rem; }
.facts dd { margin: 0; }
.bar { display: block; width: 100%; height: .55rem; border-radius: .3rem; margin: 1.1rem 0 .5rem; background: var(--line); }
.bar rect { stroke: none; } .f-good { fill: var(--good); } .f-busy { fill: var(--busy); } .f-wait { fill: var(--wait); } .f-warn { fill: var(--warn); } .f-bad { fill: var(--bad); }
.tally { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0; padding: 0; }
.conditions + .tally { margin-top: 1.1rem; }
.tally a { color: inherit; display: inline-flex; gap: .35em; text-decoration: none; }
.tally a span { text-decoration: underline; text-underline-offset: .15em; }
.services { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
.services > li { padding: .7rem 0; border-bottom: 1px solid var(--line); }
.services > li > p:first-child { display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem .8rem; max-width: none; }
.key { font-weight: 600; }
details { margin: .35rem 0 0; }
.scroll { overflow-x: auto; margin: .4rem 0 0; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--quiet); font-size: .875rem; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .42rem .9rem .42rem 0; border-bottom: 1px solid var(--line); min-width: 5rem; }
thead th { color: var(--quiet); font-size: .8125rem; font-weight: 600; }
tbody th { font-weight: 600; }
tr:last-child > th, tr:last-child > td { border-bottom: 0; }
.number { text-align: right; }
.diff { font-size: .875rem; }
.lines { margin: .3rem 0; padding-left: 1.2rem; }
.pages { display: flex; flex-wrap: wrap; gap: .4rem 1.1rem; margin: 1rem 0 0; }
@media (max-width: 40rem) {
  body { padding: 0 .85rem 2rem; }
  .sheet { padding: 1rem 1rem 1.1rem; }
  table.stack, .stack tbody, .stack tr, .stack th, .stack td { display: block; width: auto; }
  .stack caption { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack tr { padding: .55rem 0; border-bottom: 1px solid var(--line); }
  .stack tr:last-child { border-bottom: 0; }
  .stack th, .stack td { border: 0; padding: .1rem 0; text-align: left; }
  .stack td[data-of]::before { content: attr(data-of) ": "; color: var(--quiet); font-size: .8125rem; }
}
@media (forced-colors: active) { .bar { forced-color-adjust: none; } .condition { border: 1px solid; } .icon { forced-color-adjust: auto; } }
@media print { .skip { display: none; } body { max-width: none; } .sheet { break-inside: avoid; box-shadow: none; } }
`

/** Version of the style sheet, with which browsers may cache it. */
export const STYLE_VERSION = createHash('sha256').update(STYLE).digest('hex').slice(0, 12)
