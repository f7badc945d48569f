/* SPDX-License-Identifier: MIT-0 */
/* Whistled commands on an Arduino, printed at 115200 baud. */
#include <listen.h>
#include <microphone.h>

static listener ear;
static microphone source;
static int8_t frame[LISTEN_SAMPLES];

void setup()
{
    Serial.begin(115200);
    if (listen_begin(&ear) != LAM_OK) {
        Serial.println(F("no network"));
    }
}

void loop()
{
    if (source.time >= MICROPHONE_END) {
        Serial.println(F("end"));
        for (;;) {
        }
    }
    microphone_frame(&source, frame, LISTEN_SAMPLES); /* yours: the next samples of an ADC */
    const int32_t heard = listen(&ear, frame);
    if (heard != 0) {
        Serial.println(heard < 0 ? "failed" : whistle_label_output0(heard));
    }
}
