// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPShell

@Suite(.timeLimit(.minutes(5))) struct BearerTests {
    @Test(
        arguments: [
            ("Bearer t", "t"), ("bearer t", "t"), ("BEARER   a b ", "a b "), ("bEaReR ü", "ü"),
            ("Bearer", nil), ("Bearer ", nil), ("Bearer   ", nil), ("Bearert", nil),
            ("Bearer\tt", nil), (" Bearer t", nil), ("Basic t", nil), ("", nil), ("Bear", nil),
            ("B\u{05}arer t", nil),
        ] as [(String, String?)])
    func `a bearer's token is what follows the scheme and blanks`(header: String, token: String?) {
        #expect(Call.bearer(of: header) == token)
    }
}
