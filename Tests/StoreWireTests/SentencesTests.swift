// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Testing

struct SentencesTests {
    @Test(
        arguments: [
            (
                "The quantity is out of range.", "buy several times",
                "The quantity is out of range. Buy several times."
            ),
            ("no such product", "ask for its id!", "No such product. Ask for its id!"),
            ("No.", nil, "No."), ("No.", "", "No."),
            ("No.", "shopkeeper serve starts it", "No. shopkeeper serve starts it."),
        ] as [(String, String?, String)])
    func `message and remedy are sentences`(message: String, remedy: String?, whole: String) {
        let error = WireError(code: "x", message: message, remedy: remedy)
        #expect(error.sentences == whole)
    }
}
