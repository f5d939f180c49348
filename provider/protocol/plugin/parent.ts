/** The process that started this one. */

/**
 * Whether the process that runs now and started this one is still there, each time that the result is called.
 *
 * Where processes are adopted, as on Linux and macOS, the parent's id changes when the parent ends. Windows keeps it: there the
 * process is looked for.
 */
export function watchParent(
  platform: string = process.platform,
  parent: number = process.ppid,
): () => boolean {
  if (platform !== 'win32') return () => process.ppid === parent
  return () => {
    try {
      process.kill(parent, 0)
      return true
    } catch (error) {
      // EPERM: it runs, as another user.
      return error instanceof Error && 'code' in error && error.code === 'EPERM'
    }
  }
}
