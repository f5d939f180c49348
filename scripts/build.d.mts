/** Builds the programs whose file in dist/ `isWanted` accepts. */
export declare function buildPrograms(isWanted: (out: string) => boolean): Promise<void>

export declare function buildAll(): Promise<void>
