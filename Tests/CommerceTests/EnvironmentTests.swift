// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Testing

struct EnvironmentTests {
    @Test(arguments: ["Production", "Sandbox", "Xcode", "LocalTesting"])
    func `each environment has its word`(word: String) throws {
        let environment = try #require(Environment(named: word))
        #expect(environment.rawValue == word && "\(environment)" == word)
        #expect(try JSONEncoder().encode([environment]) == Data(#"["\#(word)"]"#.utf8))
    }

    @Test(arguments: ["production", "Moon", "", "Sandbox "])
    func `another word is decoded and is not known`(word: String) throws {
        let read = try JSONDecoder().decode([Environment].self, from: Data(#"["\#(word)"]"#.utf8))
        #expect(read == [Environment(rawValue: word)])
        #expect(Environment(named: word) == nil)
    }
}
