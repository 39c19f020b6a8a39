// SPDX-License-Identifier: Apache-2.0

import FuzzDriver

@_cdecl("FuzzStatus_main")
public func main(_ count: CInt, _ words: UnsafeMutableRawPointer) -> CInt {
    drive(count, words) { feed(.status, $0, $1) }
}
