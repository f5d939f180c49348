/**
 * An expression to evaluate on a page: the HTML of elements that our programs never write. Empty when texts with markup
 * were shown as text. Only messages about the last action have the focus.
 */
export const INJECTED_MARKUP = `[...document.querySelectorAll('*')].filter((one) =>
  [...one.attributes].some(({ name, value }) => /^on|^srcdoc$/.test(name) || name === 'autofocus' && !one.matches('p[role][tabindex="-1"]') || /^\\s*javascript:/i.test(value) && /^(href|src|action|formaction|data)$/.test(name)) ||
  one.closest('main') && /^(script|iframe|img|object|embed|base|meta|link|style|video|math|body)$/i.test(one.localName)
).map((one) => one.outerHTML.slice(0, 200))`
