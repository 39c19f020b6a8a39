// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The samples that sell what lasts, as their users see them.
@Suite(.timeLimit(.minutes(5))) struct UnlockingSampleTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// Runs a script in a store of a sample's own, with settings of its own.
    private func exec(_ sample: String, _ script: String) async throws -> ChildProcess.Outcome {
        let file = try PackageRoot.path() + "/Samples/\(sample)/\(sample).storekit"
        return try await rig.run(
            "shopkeeper", "exec", file, "--bundle-id",
            "com.example.\(sample.lowercased())", "--", "sh", "-c",
            """
            second() {
                export HOME="$SHOPKEEPER_DATA/second" SHOPKEEPER_DEVICE="$SHOPKEEPER_DATA/second"
                mkdir -p "$HOME"
            }
            export HOME="$SHOPKEEPER_DATA"
            \(script)
            """)
    }

    @Test func `a filter is locked until it is bought, and restored on a second device`()
        async throws
    {
        let outcome = try await exec(
            "PhotoFilters",
            """
            photo-filters show sepia | head -1
            photo-filters buy sepia
            photo-filters show sepia | head -1
            photo-filters buy sepia
            second
            photo-filters list
            photo-filters restore
            photo-filters show sepia | head -1
            """)

        let shelf = "sepia\tyours\nnegative\t$0.99\n"
        let locked = "sepia\t$0.99\nnegative\t$0.99\n"
        #expect(
            outcome.output == "4494????\n" + shelf + "44944444\n" + shelf + locked + shelf
                + "44944444\n")
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
    }

    @Test func `filters come from the app's own server after proof`() async throws {
        let folder = try PackageRoot.path() + "/Samples/PhotoFilters"
        let outcome = try await rig.run(
            "shopkeeper", "exec", folder + "/PhotoFilters.storekit", "--bundle-id",
            "com.example.photofilters", "--", folder + "/run", "sh", "-c",
            """
            export HOME="$SHOPKEEPER_DATA"
            photo-filters list
            photo-filters show sepia 2>&1; echo "not yet $?"
            PHOTO_FILTERS_URL=http://127.0.0.1:1 photo-filters buy sepia 2>&1; echo "away $?"
            photo-filters buy sepia
            photo-filters show sepia | head -1
            photo-filters show negative 2>&1; echo "not bought $?"
            export HOME="$SHOPKEEPER_DATA/second" SHOPKEEPER_DEVICE="$SHOPKEEPER_DATA/second"
            mkdir -p "$HOME"
            photo-filters restore
            photo-filters show sepia | head -1
            """)

        let missing = "This filter is not on this device.\n"
        let shelf = "negative\t$0.99\nsepia\tyours\n"
        #expect(
            outcome.output == "negative\t$0.99\nsepia\t$0.99\n" + missing + "not yet 1\n"
                + "Network down?\naway 69\n" + shelf + "44944444\n" + missing
                + "not bought 1\n" + shelf + "44944444\n",
            "\(outcome.errors)")
        #expect(outcome.status == 0)
    }

    /// The limit on a file's size is a full disk where 4,096 blocks have arrived. The app
    /// ends, and its next launch goes on there.
    @Test func `a level is downloaded, also by an app that ends half way`() async throws {
        let caves = try PackageRoot.path() + "/Samples/LevelPack/Caves"
        let outcome = try await exec(
            "LevelPack",
            """
            level-pack play e; echo "not yet $?"
            cp -r "\(caves)" "$HOME/Caves"
            head -c 8000000 /dev/urandom > "$HOME/Caves/Contents/music"
            shopkeeper content upload "$HOME/Caves" > upload.txt 2>&1 || cat upload.txt
            { (ulimit -c 0; ulimit -f 4096; exec level-pack buy > progress.txt); } 2> /dev/null
            echo "ended $?"
            find "$SHOPKEEPER_DATA" -name '*.zip' -path '*downloads*' -printf '%s\\n'
            level-pack continue > progress.txt; tail -1 progress.txt
            head -1 progress.txt | cut -d ' ' -f 1-3
            cmp "$HOME/Levels/Caves/music" "$HOME/Caves/Contents/music" && echo whole
            level-pack play esseeenneess
            find "$SHOPKEEPER_DATA" -name '*.zip' -path '*downloads*'
            level-pack restore | tail -1
            """)

        let map = "#########\n#S..#...#\n##.##.#.#\n#.....#E#\n#########\n"
        #expect(
            outcome.output == "not yet 1\nended 1\n2097152\nThe Caves are yours.\n"
                + "Downloading: 26 %\nwhole\n" + map + "You are out!\nThe Caves are yours.\n")
        #expect(outcome.errors == "Buy the level first.\n")
        #expect(outcome.status == 0)
    }

    @Test func `ads are there until they are bought away, on every device`() async throws {
        let outcome = try await exec(
            "RemoveAds",
            """
            remove-ads restore; echo "nothing $?"
            SHOPKEEPER_SHEET=cancel remove-ads buy; echo "cancelled $?"
            remove-ads buy
            remove-ads show
            second
            remove-ads show
            remove-ads restore
            """)

        let page = "Today: a walk along the river.\n"
        let ad = page + "[ad] Shoes, shoes, shoes!\nRemove the ads: $1.99\n"
        #expect(
            outcome.output == ad + "nothing 1\n" + "cancelled 1\n" + "Thank you!\n" + page + page
                + ad + "Thank you!\n" + page)
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
    }
}
