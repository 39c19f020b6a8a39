// SPDX-License-Identifier: Apache-2.0

import FuzzDriver

@_cdecl("FuzzArchive_main")
public func main(_ count: CInt, _ words: UnsafeMutableRawPointer) -> CInt {
    drive(count, words) { feed(.archive, $0, $1) }
}
