// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@Suite struct SignedDataTests {
    @Test func `a signed transaction verifies and says what was signed`() throws {
        let payload = Sample.transaction()

        let compact = try Sample.authority().transactions.sign(payload)
        let verified = try Sample.verifier().verify(compact, now: Sample.now)

        #expect(verified.payload == payload)
        #expect(verified.compact == compact)
    }
}
