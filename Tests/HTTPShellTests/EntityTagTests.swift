// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPShell

@Suite(.timeLimit(.minutes(1))) struct EntityTagTests {
    @Test(
        arguments: [
            (#""a""#, true), (#"W/"a""#, true), ("*", true), (#""b", "a""#, true),
            (#""b" , W/"a" "#, true), (#""b""#, false), ("a", false), ("", false),
            (#"w/"a""#, false),
        ])
    func `a list of tags, weak ones too, has a tag or not`(header: String, isFound: Bool) {
        #expect(EntityTag.matches(header, #""a""#) == isFound)
    }
}
