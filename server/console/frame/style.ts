import { BASE_STYLE } from '../../../web/baseStyle.ts'
import { FORM_STYLE } from './formStyle.ts'

/** The style sheet of the console. Its content security policy allows no inline styles. */
export const STYLE = `${BASE_STYLE}
body { margin: 0; min-height: 100vh; display: grid; grid-template: "side main" 1fr "side foot" auto / 14.5rem minmax(0, 1fr); overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
body.bare { grid-template: "main" 1fr "foot" auto / minmax(0, 1fr); }
main { grid-area: main; padding: 1.6rem 2rem 1rem; max-width: 84rem; width: 100%; }
.bare main { max-width: 30rem; margin: 0 auto; padding-top: 12vh; }
.foot { grid-area: foot; padding: .8rem 2rem 1.2rem; color: var(--quiet); font-size: .85rem; }
.foot p { max-width: none; }
.bare .foot { text-align: center; }
.side { grid-area: side; background: var(--sheet); border-right: 1px solid var(--line); padding: 1.1rem .9rem; display: flex; flex-direction: column; gap: .9rem; }
.brand { margin: 0; font-weight: 680; font-size: 1.1rem; }
.brand a { display: flex; align-items: center; gap: .55rem; color: inherit; text-decoration: none; padding: 0 .5rem; }
.org { margin: 0; padding: 0 .5rem; font-weight: 620; }
.org ul { list-style: none; margin: .3rem 0 0; padding: 0; font-weight: 400; }
.org li a { display: block; padding: .25rem 0; }
.side nav ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .1rem; }
.side nav a { display: block; padding: .38rem .6rem; border-radius: .4rem; color: inherit; text-decoration: none; }
.side nav a:hover { background: var(--ground); text-decoration: underline; }
.side nav a[aria-current] { background: var(--ground); font-weight: 640; box-shadow: inset .2rem 0 var(--link); }
.who { margin-top: auto; padding: 0 .5rem; font-size: .92rem; }
.who p { margin: 0 0 .25rem; } .who a { display: inline-block; padding: .1rem 0; min-height: 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 660; letter-spacing: -.012em; margin: 0 0 1rem; display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .35rem; }
h2 { font-size: 1.1rem; line-height: 1.3; font-weight: 650; margin: 0 0 .75rem; }
h3 { font-size: 1rem; line-height: 1.4; font-weight: 620; margin: 1rem 0 .4rem; }
h1 .button { font-size: 1rem; line-height: 1.3; letter-spacing: 0; margin-left: .55rem; }
p { margin: .3rem 0; max-width: 48rem; }
.quiet { color: var(--quiet); font-size: .9rem; }
.group { background: var(--sheet); border: 1px solid var(--line); border-radius: .7rem; padding: 1.1rem 1.25rem; margin: 0 0 1.25rem; box-shadow: var(--shade); }
.flash, .notice { border-left: .25rem solid var(--ok-bar); background: var(--sheet); padding: .6rem .9rem; margin: 0 0 1rem; border-radius: .3rem; max-width: none; }
.notice { border-color: var(--warn-bar); } .notice.bad { border-color: var(--bad-bar); }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "Liberation Mono", Menlo, monospace; font-size: .9em; }
pre, .secret { background: var(--ground); border: 1px solid var(--line); margin: .4rem 0; padding: .6rem .8rem; border-radius: .4rem; white-space: pre-wrap; }
.scroll { overflow-x: auto; position: relative; }
th > a, dd > a { padding: .25rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--quiet); font-size: .875rem; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; overflow-wrap: break-word; padding: .5rem .9rem .5rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-size: .8125rem; font-weight: 600; }
tbody th { font-weight: 600; }
tbody th, td:has(bdi) { min-width: 9rem; } th bdi, td bdi { overflow-wrap: anywhere; }
tr:last-child > th, tr:last-child > td { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; }
.short { white-space: nowrap; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(12.5rem, 100%), 1fr)); gap: .8rem 1.6rem; margin: 0; }
.facts.group { margin-bottom: 1.25rem; }
.facts dt { color: var(--quiet); font-size: .8125rem; }
.facts dd, .uses dd { margin: 0; }
.uses { display: grid; gap: .7rem; margin: 0 0 1.2rem; max-width: 34rem; }
.use { display: block; width: 100%; height: .5rem; margin-top: .2rem; border-radius: .25rem; }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; }
.pair { display: flex; gap: .5rem; }
.facts + form { margin-top: 1.1rem; }
td .bar { display: block; width: 7.5rem; height: 1rem; margin: .3rem 0; }
.bar { display: block; width: 100%; height: 2.2rem; margin: .3rem 0; }
.reason { font-weight: 400; font-size: .875rem; color: var(--quiet); }
.chart { display: block; width: 100%; min-width: 40rem; height: auto; font-size: 12px; fill: var(--quiet); }
.grid { stroke: var(--line); fill: none; }
.line { fill: none; stroke-width: 1.8; stroke: var(--link); stroke-linejoin: round; stroke-linecap: round; }
.l-1 { stroke: var(--ok-bar); stroke-dasharray: 6 3; } .l-2 { stroke: var(--warn-bar); stroke-dasharray: 2 3; } .l-3 { stroke: var(--bad-bar); stroke-dasharray: 9 3 2 3; } .l-4 { stroke: var(--plan-bar); stroke-dasharray: 12 4; } .l-5 { stroke: var(--calm-bar); stroke-dasharray: 1 4; }
.keys { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .4rem 0; padding: 0; font-size: .875rem; }
.keys svg { width: 1.75rem; height: .5rem; margin-right: .4rem; }
.events, .days { list-style: none; margin: 0; padding: 0; display: grid; gap: .25rem; }
a[aria-current="true"], .pages a[aria-current] { font-weight: 650; color: inherit; text-decoration: none; }
.wall h1 { font-size: 2.4rem; } .wall ul { list-style: none; padding: 0; font-size: 1.6rem; display: grid; gap: .8rem; } .wall li > * { font-size: inherit; } .bare main:has(.wall) { max-width: none; padding-top: 2rem; }
.pages { display: flex; flex-wrap: wrap; gap: .4rem 1.1rem; margin: 1rem 0 0; }
.plain-list { list-style: none; margin: 0; padding: 0; } .plain-list > li { padding: .6rem 0; border-bottom: 1px solid var(--line); } .plain-list > li:last-child { border-bottom: 0; }
.text { white-space: pre-wrap; unicode-bidi: plaintext; }
${FORM_STYLE}
@media (max-width: 60rem) {
  body { grid-template: "side" auto "main" 1fr "foot" auto / minmax(0, 1fr); }
  .side { border-right: 0; border-bottom: 1px solid var(--line); padding: .7rem .9rem; gap: .4rem .9rem; flex-flow: row wrap; align-items: center; }
  .side nav { order: 3; width: 100%; }
  .side nav ul { display: flex; overflow-x: auto; scrollbar-width: thin; }
  .side nav a { white-space: nowrap; }
  .side nav a[aria-current] { box-shadow: inset 0 -.2rem var(--link); }
  .who { margin: 0 0 0 auto; display: flex; gap: .2rem .8rem; align-items: center; } .who p { margin: 0; }
  main { padding: 1.1rem .9rem 1rem; } .foot { padding: .6rem .9rem 1rem; }
  .group { padding: .9rem; }
  .facts { grid-template-columns: repeat(auto-fill, minmax(min(8.5rem, 100%), 1fr)); gap: .7rem 1rem; } .facts dd { overflow-wrap: anywhere; }
  table.stack, .stack tbody, .stack tr, .stack th, .stack td { display: block; width: auto; }
  .stack caption { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack tr { padding: .55rem 0; border-bottom: 1px solid var(--line); }
  .stack tr:last-child { border-bottom: 0; }
  .stack th, .stack td { border: 0; padding: .1rem 0; text-align: left; }
  .stack td[data-of]::before { content: attr(data-of) ": "; color: var(--quiet); font-size: .8125rem; }
}
@media (forced-colors: active) { .bar { forced-color-adjust: none; } .side nav a[aria-current] { outline: .125rem solid; } button { border: 1px solid; } .icon, .mark, .ring { forced-color-adjust: auto; } }
@media print { body { display: block; } .skip, .side, .foot, form, .filters, .button { display: none; } .group { break-inside: avoid; box-shadow: none; } }
`
