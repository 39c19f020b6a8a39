// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport

@testable import Shop

/// Promoted products in a backup.
extension StrangeBackupTests {
    static let promotions = [
        SpoiltValue("promotions.place", "-1", "1000001"),
        SpoiltValue("promotions.is_shown", "\"yes\"", "null"),
        SpoiltValue("promotions.image_sha256", "\"../../x\"", "null"),
        SpoiltValue("promotions.image_type", "\"svg\""),
        SpoiltValue("promotions.image", "{\"base64\":\"AAEC\"}", "null"),
        SpoiltValue("promotion_overrides.device_uuid", "\"../x\""),
        SpoiltValue("promotion_overrides.place", "-1"),
        SpoiltValue("purchase_intents.state", "\"sold\"", "\"expired\""),
        SpoiltValue("purchase_intents.intent_id", "\"../x\""),
        SpoiltValue("purchase_intents.settled_at", "3"),
        SpoiltValue("app_pages.description", "\"\\u0007\""),
        SpoiltValue("app_pages.image_id", "\"../x\""),
        SpoiltValue("app_pages.featured", "0"), SpoiltValue("app_pages.price", "\"\""),
        SpoiltValue("app_pages.url", "\"javascript:x\""),
    ]

    static let pageRow = """
        INSERT INTO app_pages VALUES ('\(TestWorld.bundleID.value)', 'An app.', NULL, 'Free', 'https://example.com', 1, 1)
        """

    static let promotionRow = """
        INSERT INTO promotions VALUES
            ('\(TestWorld.bundleID.value)', 'pro', 0, 1, '\(String(repeating: "a", count: 64))',
            'png', 1, x'\(hexadecimal(SamplePicture.png()))')
        """

    static let intentRow = """
        INSERT INTO purchase_intents
        SELECT customer_id, '\(TestWorld.deviceUUID)', '\(TestWorld.bundleID.value)', 'pro',
            'waiting', 1, 1, 2, NULL, NULL, NULL
        FROM customers WHERE name = 'customer'
        """

    static let overrideRow = """
        INSERT INTO promotion_overrides
        SELECT customer_id, '\(TestWorld.bundleID.value)', '\(TestWorld.deviceUUID)', 'pro', 0, NULL
        FROM customers WHERE name = 'customer'
        """
}
