// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignedData

@Suite struct RootCertificateTests {
    @Test func `a root is read from DER and from PEM`() throws {
        let authority = try Sample.authority()

        #expect(try RootCertificate.der(ofFile: authority.root) == authority.root)
        #expect(try RootCertificate.der(ofFile: Array(authority.rootPEM.utf8)) == authority.root)
    }

    @Test func `what is no certificate is refused`() throws {
        let authority = try Sample.authority()
        let spoilt: [[UInt8]] = [
            [], Array("hello".utf8), Array(authority.root.dropLast()), authority.root + [0],
            authority.files["root.key.pem"] ?? [],
            Array((authority.rootPEM + "\n" + authority.rootPEM).utf8),
        ]

        for bytes in spoilt {
            #expect(refusal { try RootCertificate.der(ofFile: bytes) }?.code == .malformed)
        }
    }
}
