"""Films of grey pictures."""

import functools
import io

import av
from PIL import Image


@functools.cache
def grey(*, seconds=8, rate=5, size=(64, 48), codec="libx264", form="mp4", every=250, turned=0, ratio=None, track=0.0):
    """A film that goes from black to white: how grey a frame is tells its time. A key frame at least `every` frames."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=form) as out:
        stream = out.add_stream(codec, rate=rate, options={"g": str(every), "preset": "ultrafast", "sc_threshold": "0"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        if turned:
            stream.set_display_rotation(turned)
        if ratio:
            stream.codec_context.sample_aspect_ratio = ratio
        sound = (
            out.add_stream("libmp3lame" if form == "mp4" else "libopus", rate=48000, layout="mono") if track else None
        )
        for at in range(seconds * rate):
            # Brighter to the right, too, so that it can be seen which way up it is.
            line = bytes(min(255, 16 + 200 * at // (seconds * rate) + 20 * (x * 2 // size[0])) for x in range(size[0]))
            picture = Image.frombytes("L", size, line * size[1]).convert("RGB")
            frame = av.VideoFrame.from_image(picture)
            frame.pts = at
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
        if sound:
            write_silence(out, sound, track)
    return buffer.getvalue()


def write_silence(out, stream, seconds):
    resampler = av.AudioResampler(stream.format, "mono", 48000, frame_size=stream.frame_size or 1152)
    frame = av.AudioFrame(format="s16", layout="mono", samples=round(48000 * seconds))
    frame.planes[0].update(bytes(frame.planes[0].buffer_size))
    frame.sample_rate, frame.pts = 48000, 0
    for part in [*resampler.resample(frame), *resampler.resample(None)]:
        out.mux(stream.encode(part))
    out.mux(stream.encode())
