import Foundation
import Primitives
import TestSupport
import Testing

@Suite struct Base64Tests {
    /// The examples of RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func standardExamples(_ plain: String, _ text: String) {
        #expect(Base64.text(of: Array(plain.utf8)) == text)
        #expect(Base64.bytes(of: text) == Array(plain.utf8))
    }

    @Test func agreesWithFoundation() {
        var random = SplitMix64(seed: Repetitions.seed)
        for count in 0..<100 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...UInt8.max, using: &random) }
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.text(of: bytes) == text)
            #expect(Base64.bytes(of: text) == bytes)
        }
    }

    /// Other texts that tolerant decoders accept for the same bytes.
    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm8", "Zm8=\n", " Zm8=", "Zm 8", "Zm_v", "Zm-v", "Zm8=Zm8=", "====", "=",
        "Z===", "Zg=A",
        "Zm9vZ", "Zé8=",
    ])
    func otherTextsAreRejected(_ text: String) {
        #expect(Base64.bytes(of: text) == nil)
    }

    /// Every text of four characters that decodes is the text of its bytes.
    @Test func everyDecodedTextIsCanonical() {
        let characters = Array("AQgwBZz+/=9-_ ")
        for first in characters {
            for second in characters {
                for third in characters {
                    for fourth in characters {
                        let text = String([first, second, third, fourth])
                        if let bytes = Base64.bytes(of: text) { #expect(Base64.text(of: bytes) == text) }
                    }
                }
            }
        }
    }
}
