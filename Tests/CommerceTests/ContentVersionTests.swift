// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// Versions of hosted content.
@Suite(.timeLimit(.minutes(5))) struct ContentVersionTests {
    @Test func `versions are compared as integers`() throws {
        let sorted = ["0", "0.9", "1", "1.0", "1.2", "1.9", "1.10", "01.10", "2", "10", "10.0.1"]

        let versions = try sorted.shuffled().map { try #require(ContentVersion($0)) }.sorted()

        #expect(versions.map(\.description) == sorted)
        #expect(Set(versions).count == sorted.count)
    }

    @Test(arguments: [
        "", ".", "1.", ".1", "1..2", "a", "1.a", "-1", "+1", "1 ", "١", "1234567890",
        "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1",
    ])
    func `what is no version is none`(text: String) {
        #expect(ContentVersion(text) == nil)
    }
}
