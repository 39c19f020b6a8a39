// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs the tests of all targets. SwiftPM knows this file by its name. Without it, it would look
/// through an index of all sources for tests of the older library, of which there are none, and
/// the compiler would have to write that index.
@main struct Tests {
    static func main() async {
        let words = CommandLine.arguments
        // `swift test` asks for those of the older library first.
        if let asked = words.firstIndex(of: "--testing-library"),
            words.dropFirst(asked + 1).first == "xctest"
        {
            exit(0)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
