// SPDX-License-Identifier: Apache-2.0

import Testing

/// Runs the tests of all targets, where it stands as `Tests/XCTMain.swift`, a name that SwiftPM
/// knows. It looks through no index for the tests then, so that the compiler need not write one.
@main struct Tests {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
