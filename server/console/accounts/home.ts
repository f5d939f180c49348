import { html } from '../../../web/html.ts'
import type { Route } from '../routing/route.ts'

/** Redirects to the first page of an organisation. */
export const homeRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    access: 'signed in',
    handle: async ({ memberships: [first] }) => {
      if (first !== undefined) return { kind: 'redirect', to: `/o/${first.orgId}` }
      const title = 'No organisation'
      const text = 'You are not a member of any organisation. Ask an owner for an invitation.'
      return { kind: 'page', title, body: html`<h1>${title}</h1><p>${text}</p>` }
    },
  },
  {
    method: 'GET',
    path: '/o/:org',
    access: 'read',
    handle: async ({ root }) => ({ kind: 'redirect', to: `${root}/services` }),
  },
]
