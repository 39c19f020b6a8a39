// SPDX-License-Identifier: Apache-2.0

import FuzzDriver

@_cdecl("FuzzCertificate_main")
public func main(_ count: CInt, _ words: UnsafeMutableRawPointer) -> CInt {
    drive(count, words) { feed(.certificate, $0, $1) }
}
