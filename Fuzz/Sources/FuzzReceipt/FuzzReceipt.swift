// SPDX-License-Identifier: Apache-2.0

import FuzzDriver

@_cdecl("FuzzReceipt_main")
public func main(_ count: CInt, _ words: UnsafeMutableRawPointer) -> CInt {
    drive(count, words) { feed(.receipt, $0, $1) }
}
