// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport

@testable import Shop

/// Versions of hosted content in a backup.
extension StrangeBackupTests {
    static let content = [
        SpoiltValue("content_versions.version", "\"1..0\"", "\"../x\"", "\"\""),
        SpoiltValue("content_versions.state", "\"sold\"", "\"removed\"", "\"processing\""),
        SpoiltValue("content_versions.sha256", "\"../../x\"", "\"aa\"", "null"),
        SpoiltValue("content_versions.length", "0", "-1", "9223372036854775807"),
        SpoiltValue("content_versions.ready_at", "null"),
        SpoiltValue("content_versions.removed_at", "3"),
    ]

    static let contentRow = """
        INSERT INTO content_versions VALUES
            ('\(TestWorld.bundleID.value)', 'pro', '1.0', 'ready',
            '\(String(repeating: "a", count: 64))', 1, 1, 2, NULL)
        """
}
