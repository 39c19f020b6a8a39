// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPShell

/// The header `Range`.
@Suite(.timeLimit(.minutes(5))) struct ByteRangeTests {
    @Test(arguments: [
        (nil, ByteRange.whole), ("", .whole), ("bytes", .whole), ("bytes=", .whole),
        ("bytes=-", .whole), ("bytes=0-9", .part(0..<10)), ("BYTES = 0-9", .whole),
        ("Bytes=0-9", .part(0..<10)), ("bytes= 0-9 ", .part(0..<10)),
        ("bytes=0-8", .part(0..<9)), ("bytes=9-9", .part(9..<10)), ("bytes=9-", .part(9..<10)),
        ("bytes=10-", .unsatisfiable), ("bytes=10-12", .unsatisfiable),
        ("bytes=-1", .part(9..<10)), ("bytes=-11", .part(0..<10)), ("bytes=-0", .unsatisfiable),
        ("bytes=3-2", .whole), ("bytes=0-1,4-5", .whole), ("bytes=0-1-2", .whole),
        ("bytes=+1-2", .whole), ("bytes=1-9223372036854775808", .part(1..<10)),
        ("bytes=9223372036854775807-9223372036854775807", .unsatisfiable),
    ])
    func `a range of ten bytes`(header: String?, range: ByteRange) {
        #expect(ByteRange(header, length: 10) == range, "\(header ?? "none")")
    }
}
