// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct CivilDateTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1, "1970-01-01T00:00:00.001Z"), (-86_400_000, "1969-12-31T00:00:00Z"),
        (951_782_400_000, "2000-02-29T00:00:00Z"), (4_102_444_799_000, "2099-12-31T23:59:59Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
    ])
    func `an instant is written and read`(milliseconds: Int64, text: String) {
        let instant = Timestamp(milliseconds: milliseconds)

        #expect(instant.description == text)
        #expect(Timestamp(iso8601: text) == instant)
    }

    @Test func `the ends of the range can be written`() {
        #expect(Timestamp(milliseconds: .min).description.hasSuffix("T16:47:04.192Z"))
        #expect(Timestamp(milliseconds: .max).description.hasSuffix("T07:12:55.807Z"))
    }
}
