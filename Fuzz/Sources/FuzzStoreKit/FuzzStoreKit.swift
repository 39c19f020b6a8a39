// SPDX-License-Identifier: Apache-2.0

import FuzzEntries

/// What libFuzzer calls for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    FuzzEntry.storekit.feed(Array(UnsafeRawBufferPointer(start: start, count: count)))
    return 0
}
