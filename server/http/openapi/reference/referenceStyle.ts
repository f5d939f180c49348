import { BASE_STYLE } from '../../../../web/baseStyle.ts'

/** The style sheet of the reference, embedded in the page. */
export const REFERENCE_STYLE = `${BASE_STYLE}
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template: "side main" auto / 16rem minmax(0, 1fr); overflow-wrap: anywhere; }
.side { grid-area: side; background: var(--sheet); border-right: 1px solid var(--line); padding: 1.1rem .9rem; position: sticky; top: 0; height: 100vh; overflow-y: auto; font-size: .92rem; }
.brand { margin: 0 0 .8rem; font-weight: 680; font-size: 1.1rem; }
.brand a, .heading a, h3 a { color: inherit; text-decoration: none; }
h3 a:hover, .heading a:hover { text-decoration: underline; }
.heading { margin: 1rem 0 .2rem; font-weight: 640; }
.side ul { list-style: none; margin: 0; padding: 0; }
.side li a { display: flex; gap: .5rem; align-items: baseline; padding: .22rem 0; color: inherit; text-decoration: none; }
.side li a:hover { text-decoration: underline; }
main { grid-area: main; padding: 1.6rem 2rem 3rem; max-width: 60rem; width: 100%; }
h1 { font-size: 1.6rem; line-height: 1.25; font-weight: 660; letter-spacing: -.012em; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; line-height: 1.3; font-weight: 650; margin: 2.2rem 0 .5rem; }
h3 { font-size: 1.05rem; line-height: 1.4; font-weight: 640; margin: 0 0 .4rem; }
h4 { font-size: .8125rem; font-weight: 640; color: var(--quiet); margin: 1.1rem 0 .3rem; }
p { margin: .3rem 0; max-width: 48rem; }
.quiet { color: var(--quiet); font-size: .9rem; }
.group { background: var(--sheet); border: 1px solid var(--line); border-radius: .7rem; padding: 1rem 1.25rem 1.1rem; margin: 0 0 1.1rem; box-shadow: var(--shade); }
.group:target, li:target { border-color: var(--link); box-shadow: inset .2rem 0 var(--link); }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "Liberation Mono", Menlo, monospace; font-size: .9em; }
pre { background: var(--ground); border: 1px solid var(--line); margin: .4rem 0; padding: .6rem .8rem; border-radius: .4rem; white-space: pre-wrap; }
pre code { font-size: .875rem; }
.method { font-size: .75rem; font-weight: 700; min-width: 4.8em; }
.route .method { margin-right: .3rem; min-width: 0; }
.m-get { color: var(--link); } .m-post { color: var(--ok); } .m-patch { color: var(--warn); } .m-delete { color: var(--bad); }
.fields, .responses { list-style: none; margin: .2rem 0; padding: 0; }
.responses.group { padding: .6rem 1.25rem; }
.fields > li { border-top: 1px solid var(--line); padding: .35rem 0; }
.fields p { margin: .1rem 0; }
.fields .fields { margin: .2rem 0 .2rem .2rem; padding-left: .9rem; border-left: .15rem solid var(--line); }
.responses li { padding: .15rem .3rem; }
.name { font-weight: 640; }
.type { color: var(--quiet); font-size: .92rem; }
.must { color: var(--warn); font-size: .8125rem; }
.status { display: inline-block; min-width: 2.6rem; font-weight: 640; font-variant-numeric: tabular-nums; }
summary { font-size: .9rem; }
@media (max-width: 52rem) {
  body { display: block; }
  .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1.2rem 1rem 2rem; }
  .group { padding: .8rem .9rem .9rem; }
}
@media print { .side { display: none; } body { display: block; } }
`
