// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// An app whose customer cannot sign in, or whose session ends, over real HTTP.
@Suite(.timeLimit(.minutes(5))) struct SignInFailureTests {
    @Test func `wrong passwords are said to the app, and the right one buys`() async throws {
        let rig = try Rig()
        let file = try PackageRoot.path() + "/Samples/RemoveAds/RemoveAds.storekit"
        let outcome = try await rig.run(
            "shopkeeper", "exec", file, "--bundle-id", "com.example.removeads",
            "--scrypt-rounds", "2", "--", "sh", "-c",
            """
            export HOME="$SHOPKEEPER_DATA" SHOPKEEPER_CUSTOMER=ada
            shopkeeper customer create ada --password 'a long one' >&2
            for wrong in one two three; do
                SHOPKEEPER_PASSWORD=$wrong remove-ads buy; echo "$wrong $?"
            done
            export SHOPKEEPER_PASSWORD='a long one'
            remove-ads buy; echo "right $?"
            shopkeeper session revoke --customer ada >&2
            rm -r "$HOME/.config"
            remove-ads restore; echo "again $?"
            """)

        let page = "Today: a walk along the river.\n"
        #expect(
            outcome.output == "one 1\ntwo 1\nthree 1\nThank you!\n" + page + "right 0\n"
                + "Thank you!\n" + page + "again 0\n")
        let said = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("It failed:") }
        #expect(said.count == 3)
        #expect(said.allSatisfy { $0.contains("password is not right") }, "\(outcome.errors)")
    }
}
