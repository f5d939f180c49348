/**
 * `text` for Terraform to take as it is. In a text of a stack `${…}` and `%{…}` are Terraform's own expressions;
 * here they stand for themselves. Pure.
 */
export function literal(text: string): string {
  return text.replaceAll(/[$%](?=\{)/g, (mark) => `${mark}${mark}`)
}
