export declare const LIBRARIES: readonly ['cdktf', 'cdktn']
export declare function importing(library: string, text: string): string
