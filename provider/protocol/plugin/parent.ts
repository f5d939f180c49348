/** The process that started this one. */

/**
 * Returns a function that reports whether the process that started this one is still running.
 *
 * On Linux and macOS the parent id changes when the parent ends. Windows keeps it, so there the process is looked up.
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
      // EPERM: the process exists, but runs as another user.
      return error instanceof Error && 'code' in error && error.code === 'EPERM'
    }
  }
}
