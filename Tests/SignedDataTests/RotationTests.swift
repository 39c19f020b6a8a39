// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignedData
import Testing

/// New leaves and intermediates under the same root.
@Suite struct RotationTests {
    @Test(arguments: [false, true])
    func `what was signed before and after verifies under the same root`(
        withIntermediate: Bool
    ) throws {
        let before = try Sample.authority()

        let after = try before.rotated(.sandbox, withIntermediate: withIntermediate)

        #expect(after.root == before.root)
        #expect(Set(after.leafSerials).isDisjoint(with: before.leafSerials))
        for authority in [before, after] {
            let compact = try authority.transactions.sign(Sample.transaction())
            #expect(throws: Never.self) { try Sample.verifier().verify(compact, now: nil) }
            let receipt = try Sample.receipt(authority)
            #expect(throws: Never.self) {
                try Sample.receiptVerifier().verify(receipt, bundleID: nil)
            }
        }
    }

    @Test func `leaves are rotated while the root's key lies in a safe`() throws {
        var files = try Sample.authority().files
        files["root.key.pem"] = nil
        let authority = try CertificateAuthority(files: files)

        let rotated = try authority.rotated(.sandbox)

        #expect(rotated.files["root.key.pem"] == nil)
        let compact = try rotated.transactions.sign(Sample.transaction())
        #expect(throws: Never.self) { try Sample.verifier().verify(compact, now: nil) }
        let fault = #expect(throws: AuthorityFault.self) {
            try authority.rotated(.sandbox, withIntermediate: true)
        }
        #expect(fault?.file == "root.key.pem")
    }

    @Test func `a rotated authority is kept like any other`() throws {
        let rotated = try Sample.authority().rotated(.sandbox, statusURL: "http://127.0.0.1/ocsp")

        #expect(try CertificateAuthority(files: rotated.files).files == rotated.files)
    }

    @Test func `a former authority keeps its certificates, without the keys that it needs no more`()
        throws
    {
        let files = try Sample.authority().files

        let kept = try #require(FormerAuthority.files(of: files))

        let gone = Set(files.keys).subtracting(kept.keys)
        #expect(gone == ["transactions.key.pem", "receipts.key.pem", "root.key.pem"])
        #expect(kept.allSatisfy { files[$0.key] == $0.value })
        #expect(FormerAuthority.files(of: kept) == nil, "there is nothing left to take away")
        #expect(throws: Never.self) { try FormerAuthority(files: kept) }
    }
}
