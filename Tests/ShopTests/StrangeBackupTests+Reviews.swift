// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport

@testable import Shop

/// Reviews of apps in a backup.
extension StrangeBackupTests {
    static let reviews = [
        SpoiltValue("reviews.stars", "0", "6", "null"),
        SpoiltValue("reviews.body", "\"\"", "\"a\\u001bb\""),
        SpoiltValue("reviews.reviewer", "\"\"", "null"),
        SpoiltValue("reviews.answer", "null"),
        SpoiltValue("reviews.answered_at", "null"),
        SpoiltValue("review_requests.asked_at", "\"1\""),
        SpoiltValue("review_refusals.refused_at", "null"),
    ]

    /// What people write, and what a device reports.
    static let reviewTexts: Set = [
        "reviews.body", "reviews.answer", "reviews.reviewer", "reviews.app_version",
    ]

    static let reviewRows = [
        """
        INSERT INTO reviews SELECT '\(TestWorld.bundleID.value)', customer_id, 4, 'Fine.', 'Ann',
            '1.0', 1, 'Thanks.', 2, NULL
        FROM customers WHERE name = 'customer'
        """,
        """
        INSERT INTO review_requests SELECT '\(TestWorld.bundleID.value)', customer_id, 2, 1, NULL
        FROM customers WHERE name = 'customer'
        """,
        """
        INSERT INTO review_refusals SELECT customer_id, 1 FROM customers WHERE name = 'customer'
        """,
    ]
}
