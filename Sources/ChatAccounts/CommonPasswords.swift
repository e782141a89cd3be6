#if Server
    internal import Foundation

    /// The commonest passwords, which are rejected: they are the first ones that are tried.
    ///
    /// NIST SP 800-63B, section 3.1.1.2, asks to compare a new password with such a list, and with
    /// words of the service and the user. These are the passwords of at least 8 characters that
    /// head the published rankings of leaked ones year after year, such as those of the National
    /// Cyber Security Centre and of SplashData. A short list suffices, because the attempts at an
    /// account are limited.
    enum CommonPasswords {
        /// Whether a password is on the list or is one repeated character, in any case and form,
        /// with any spaces and format characters.
        static func contains(_ password: String) -> Bool {
            let text = plain(password)
            return Set(text).count <= 1 || list.contains(text)
        }

        /// Whether a password is one of the words, with nothing but digits and punctuation beside
        /// it.
        ///
        /// - Parameter words: For example the username; those with fewer than 3 letters are
        ///   ignored.
        static func isWord(_ password: String, of words: [String]) -> Bool {
            let letters = letters(of: password)
            return letters.count >= 3 && words.contains { Self.letters(of: $0) == letters }
        }

        /// The letters of a text in lower case.
        private static func letters(of text: String) -> String { plain(text).filter(\.isLetter) }

        /// Returns a text in lower case and compatibility form, without spaces and format
        /// characters.
        private static func plain(_ text: String) -> String {
            var scalars = String.UnicodeScalarView()
            for scalar in text.precomposedStringWithCompatibilityMapping.lowercased().unicodeScalars
            where !scalar.properties.isWhitespace && scalar.properties.generalCategory != .format {
                scalars.append(scalar)
            }
            return String(scalars)
        }

        static let list: Set<String> = Set(text.split(whereSeparator: \.isWhitespace).map(String.init))

        private static let text = """
            00000000 000000000 0000000000 0000000000000000 01234567 012345678 0123456789 09876543 0987654321 10101010
            1020304050 11111111 111111111 1111111111 11112222 11223344 1122334455 112233445566 12121212 12131415
            123123123 123123123123 12312345 123321123 12341234 1234512345 12345432 123454321 1234554321 12345671
            12345678 123456781 1234567812345678 123456787654321 123456788 123456789 1234567890 12345678900 12345678901
            123456789012 1234567891 12345678910 123456789123456789 1234567899 123456789a 123456789q 12345678a
            12345678q 1234567a 1234567q 123456aa 123456ab 123456abc 123456as 123456qw 123456qwe 123456qwerty 12345abc
            12345abcd 12345qwe 12345qwert 12345qwerty 1234abcd 1234asdf 1234qwer 123abc123 123admin123 123qwe123
            123qweasd 123qweasdzxc 13131313 13579246 135792468 1357924680 14141414 147147147 147258369 1472583690
            147852369 14789632 147896325 159159159 159357159 159357456 159753159 159753456 16161616 19841984 19851985
            19861986 19871987 19881988 19891989 19901990 19911991 19921992 19931993 19941994 19951995 1password
            1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz1qaz 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 1qazzaq1 1z2x3c4v
            20002000 20012001 20102010 21212121 22222222 22446688 23232323 23456789 24682468 25252525 2580258025
            258456258 31415926 314159265 33333333 36925814 369258147 44444444 456456456 456789123 55555555 5555555555
            66666666 6666666666 741852963 7418529630 753951456 77777777 7777777777 78787878 789456123 7894561230
            789789789 85208520 852456852 87654321 876543210 88888888 8888888888 963852741 987456321 98765432 987654321
            9876543210 99999999 9999999999 a1234567 a12345678 a123456789 a1a2a3a4 a1b2c3d4 a1b2c3d4e5 a1s2d3f4
            aa112233 aa123123 aa123456 aa12345678 aaaaaaaa aaaaaaaaaa ab123456 abc12345 abc123456 abc123abc abcabcabc
            abcd1234 abcd12345 abcd123456 abcdabcd abcde12345 abcdef123 abcdef1234 abcdefg1 abcdefgh abcdefghi
            abcdefghij access14 admin123 admin1234 admin12345 admin123456 admin888 adminadmin administrator
            administrator1 alejandro alexander alexandra anderson angelina anthony1 apple123 arsenal1 as123456
            asasasas asd123456 asd123asd asdasd123 asdasdasd asdf1234 asdfasdf asdfghjk asdfghjkl asdfghjkl1 asdfjkl;
            asdqwe123 ashley123 babygirl babygirl1 baseball baseball1 basketball bigdaddy birthday blahblah blessed1
            blink182 bluebird bonjour1 brooklyn buster123 butterfly butterfly1 carolina caroline cashmoney celtic1888
            changeme changeme1 changeme123 changethis charlie1 charlie123 charlotte cheese123 chelsea1 chelsea123
            chester1 chicago1 chocolate chocolate1 christian christina christine christmas christopher cocacola
            coffee123 computer computer1 cookie123 corvette courtney cowboys1 creative daniel123 danielle default1
            default123 diamond1 dinosaur dolphins dragon123 dragonball einstein elephant elizabeth emmanuel everton1
            facebook facebook1 fernando fireball firebird flower123 football football1 football12 football123 forever1
            freedom1 friends1 fuckyou1 fuckyou123 fuckyou2 gangster garfield gateway1 ghbdtnjr giovanni goodluck
            google123 gotohell guest123 hallo123 hannah123 happy123 hardcore hello123 hello1234 hello12345 hellohello
            hellokitty hercules holiday1 hunter123 iloveu123 iloveyou iloveyou! iloveyou1 iloveyou12 iloveyou123
            iloveyou2 iloveyou3 iloveyouso infinity internet internet1 isabella jackson1 jasmine1 jennifer jennifer1
            jessica1 jesus123 jesuschrist johnson1 jonathan jordan123 jordan23 juventus katherine killer123 kimberly
            kingkong kristina letmein! letmein1 letmein12 letmein123 letmeinnow linkedin liverpoo liverpool liverpool1
            london123 lovelove loveme123 loveyou1 lucky777 madison1 manchester manchester1 margaret marlboro martinez
            master123 matrix123 matthew1 maverick maximus1 mercedes metallica metallica1 michael1 michael123 michelle
            microsoft midnight minecraft minecraft1 mitchell monkey12 monkey123 monkey1234 motorola mustang1 myspace1
            myspace123 naruto123 nicholas nicole123 nintendo nirvana1 november october1 olivia123 p@55w0rd p@ssw0rd
            p@ssw0rd1 p@ssw0rd123 p@ssword p@ssword1 pa$$w0rd pa$$word pa55w0rd pa55word pakistan pakistan1 panthers
            paradise pass1234 pass12345 passpass passport passw0rd passw0rd! passw0rd1 passwd123 password password!
            password!1 password0 password00 password01 password1 password1! password10 password11 password12
            password123 password123! password1234 password12345 password2 password21 password22 password23 password3
            password4 password5 password6 password69 password7 password8 password9 password99 password?
            passwordpassword patricia patrick1 peaches1 pepper123 philippines phoenix1 pokemon1 pokemon123 portugal
            precious princess princess1 princess12 princess123 q1q1q1q1 q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 qawsedrf
            qaz12345 qaz123456 qazqazqaz qazwsx12 qazwsx123 qazwsxed qazwsxedc qazxsw12 qq123123 qq123456 qqqqqqqq
            qqww1122 qwaszx12 qwe123456 qwe123qwe qweasd123 qweasdzx qweasdzxc qweasdzxc123 qweqwe123 qweqweqwe
            qwer1234 qwerasdf qwerqwer qwert123 qwert1234 qwert12345 qwerty01 qwerty1! qwerty11 qwerty12 qwerty123
            qwerty123! qwerty1234 qwerty12345 qwerty123456 qwerty321 qwertyqwerty qwertyu1 qwertyui qwertyuio
            qwertyuiop qwertyuiop1 qwertyuiop123 qwertz123 rainbow1 ranger12 rangers1 realmadrid rebecca1 remember
            richard1 robert123 rockstar rockyou1 ronaldo7 rush2112 russia123 samantha samantha1 samsung1 samsung123
            santiago sayangku scarlett scorpion sebastian secret123 september sergey123 shadow123 shopping1 simpsons
            skywalker slipknot snickers snowball soccer123 softball something sometimes southampton spiderman
            spiderman1 spongebob srinivas starcraft starwars starwars1 steelers stephanie stephen1 summer01 summer12
            summer123 summer2019 summer2020 summer2021 summer2022 summer2023 summer2024 summer2025 sunderland
            sunflower sunshine sunshine1 sunshine123 superman superman1 superman123 superstar swordfish sysadmin1
            system123 taylor123 tennessee test1234 test12345 test123456 testing1 testing123 testtest thebest1
            thomas123 thuglife thunder1 tigger123 tinkerbell tottenham tottenham1 trinity1 trustno1 tweety123 twilight
            undertaker unicorn1 user1234 valentina vanessa1 veronica victoria victoria1 vladimir wachtwoord welcome!
            welcome01 welcome1 welcome1! welcome12 welcome123 welcome1234 whatever whatever1 william1 williams
            winter123 winter2020 winter2021 winter2022 winter2023 winter2024 winter2025 wolverine wonderful wordpass
            x1234567 xbox360live xxxxxxxx yamahar1 yankees1 yellow123 yourmom1 z1x2c3v4 zaq12wsx zaq1xsw2 zaq1zaq1
            zaqwsx123 zaqwsxcde zxc123456 zxc123zxc zxcasdqwe zxcv1234 zxcvasdf zxcvbnm1 zxcvbnm12 zxcvbnm123 zxcvbnma
            zxczxczxc zzzzzzzz
            """
    }
#endif
