// SPDX-License-Identifier: Apache-2.0

import FuzzDriver

@_cdecl("FuzzOverlay_main")
public func main(_ count: CInt, _ words: UnsafeMutableRawPointer) -> CInt {
    drive(count, words) { feed(.overlay, $0, $1) }
}
