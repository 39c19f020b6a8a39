// SPDX-License-Identifier: Apache-2.0

import FuzzDriver

@_cdecl("FuzzStoreKit_main")
public func main(_ count: CInt, _ words: UnsafeMutableRawPointer) -> CInt {
    drive(count, words) { feed(.storekit, $0, $1) }
}
