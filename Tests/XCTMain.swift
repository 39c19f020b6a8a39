// SPDX-License-Identifier: Apache-2.0

import Testing
import XCTest

/// Runs the tests of all targets. SwiftPM knows this file by its name. Without it, it would look
/// through an index of all sources for tests of XCTest, of which there are none, and the compiler
/// would have to write that index.
@main struct Tests {
    static func main() async {
        let words = CommandLine.arguments
        guard let asked = words.firstIndex(of: "--testing-library"),
            words.dropFirst(asked + 1).first == "swift-testing"
        else {
            // `swift test` asks for those of XCTest first, and for a list of them.
            XCTMain([])
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
